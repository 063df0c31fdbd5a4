#include "data/made_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "base/counter_random.h"
#include "data/unicode.h"

namespace falcon::data {
namespace {

// Tokens of a context: log-normal with this median and spread, so that 2.5 % are above 384 and the
// mean is 184, as in a sample of 120 paragraphs of SQuAD v1.1.
constexpr double kMedianTokens = 168.6;
constexpr double kSpread = 0.42;
constexpr double kMostTokens = 800;
constexpr double kShareImpossible = 0.45;
constexpr double kShareOfAccents = 0.45;  // paragraphs with characters beyond ASCII

// What a sentence says, and can be asked for.
struct Statement {
  std::string before, answer, after;  // the sentence is these three in a row
  std::string question;
};

class Writer {
 public:
  Writer(const MadeVocabulary& vocabulary, std::uint64_t seed, std::uint64_t index)
      : vocabulary_(vocabulary), random_({seed, 0x74657874, index}) {  // "text"
    has_accents_ = random_.uniform() < kShareOfAccents;
  }

  base::CounterRandom& random() { return random_; }
  double draw_length() {
    const double radius = std::sqrt(-2 * std::log(1 - random_.uniform()));
    const double normal = radius * std::cos(2 * std::numbers::pi * random_.uniform());
    return std::min(kMedianTokens * std::exp(kSpread * normal), kMostTokens);
  }
  Statement statement();
  std::string filler();

 private:
  // A word of rank r comes with a frequency of about 1/r: ranks of an octave are equally frequent.
  const std::string& by_rank(const std::vector<std::string>& words) {
    const double octaves = std::log2(static_cast<double>(words.size()));
    const auto rank = static_cast<std::size_t>(std::exp2(random_.uniform() * octaves));
    return words[std::min(rank, words.size()) - 1];
  }
  const std::string& noun() { return by_rank(vocabulary_.content); }
  std::string name() {
    std::string word = made_word(3, random_.below(200000), 2 + static_cast<int>(random_.below(2)));
    if (has_accents_ && random_.uniform() < 0.2) {
      const std::size_t vowel = word.find('e');
      if (vowel != std::string::npos) word.replace(vowel, 1, "\u00e9");
    }
    word.front() = static_cast<char>(word.front() - 'a' + 'A');  // made words begin with a letter
    return word;
  }
  std::string number(std::uint64_t first, std::uint64_t count) {
    return std::to_string(first + random_.below(count));
  }
  std::string phrase() {  // 1 to 7 words, 3.2 on average
    std::string text = "the " + noun();
    if (random_.uniform() < 0.35) return name();
    while (text.size() < 40 && random_.uniform() < 0.45) text += " of " + noun();
    return text;
  }

  const MadeVocabulary& vocabulary_;
  base::CounterRandom random_;
  bool has_accents_ = false;
};

Statement Writer::statement() {
  const std::string who = name();
  const std::string what = noun();
  const std::string which = noun();
  Statement out;
  switch (random_.below(5)) {
    case 0:
      out = {"The " + what + " of " + who + " is ", phrase(), ".",
             "What is the " + what + " of " + who + "?"};
      break;
    case 1:
      out = {who + " was " + which + " by the " + what + " in ", number(1700, 320), ".",
             "When was " + who + " " + which + " by the " + what + "?"};
      break;
    case 2:
      out = {"In the " + what + ", ", name() + " " + name(),
             " held the " + which + " of " + who + ".",
             "Who held the " + which + " of " + who + " in the " + what + "?"};
      break;
    case 3:
      out = {"There are ", number(2, 98) + " " + what, " in the " + which + " of " + who + ".",
             "How many " + what + " are there in the " + which + " of " + who + "?"};
      break;
    default:
      out = {"The " + what + " became known as " + who + " because of ", phrase(), ".",
             "Why did the " + what + " become known as " + who + "?"};
  }
  if (random_.uniform() < 0.4) {
    out.question.front() = static_cast<char>(out.question.front() - 'A' + 'a');
    out.question = "According to the " + noun() + " of " + noun() + ", " + out.question;
  }
  return out;
}

std::string Writer::filler() {
  std::string text;
  const std::uint64_t words = 8 + random_.below(22);
  for (std::uint64_t i = 0; i < words; ++i) {
    const double what = random_.uniform();
    std::string word = what < 0.46   ? by_rank(vocabulary_.function)
                       : what < 0.94 ? noun()
                       : what < 0.97 ? name()
                                     : number(10, 2010);
    if (i == 0) {
      const bool is_letter = word.front() >= 'a' && word.front() <= 'z';
      if (is_letter) word.front() = static_cast<char>(word.front() - 'a' + 'A');
    } else {
      text += random_.uniform() < 0.08 ? ", " : " ";
    }
    text += word;
  }
  if (has_accents_ && random_.uniform() < 0.15) {
    const std::string year = number(1700, 300);
    text += " (" + year + "\u2013" + std::to_string(std::stoi(year) + 4) + ")";
  }
  return text + ".";
}

// About as many as the tokenizer makes: marks and words, and two more for each rare word, which are
// those with a capital inside a sentence.
double estimated_tokens(const std::string& sentence) {
  double tokens = 0;
  char before = ' ';
  for (const char c : sentence) {
    if (c == ',' || c == '.' || c == '(' || c == ')') tokens += 1;
    if (before == ' ' && c != ' ') tokens += c >= 'A' && c <= 'Z' ? 2.2 : 1;
    before = c;
  }
  return tokens;
}

void append_sentence(std::string& context, const std::string& sentence) {
  if (!context.empty()) context += ' ';
  context += sentence;
}

}  // namespace

MadeParagraph made_paragraph(const MadeVocabulary& vocabulary, const MadeTextOptions& options,
                             std::uint64_t seed, std::uint64_t index) {
  Writer writer(vocabulary, seed, index);
  const double length = writer.draw_length();
  std::vector<Statement> statements;
  double tokens = 0;
  for (int i = 0; i < options.questions; ++i) {
    statements.push_back(writer.statement());
    const Statement& one = statements.back();
    tokens += estimated_tokens(one.before + one.answer + one.after);
  }
  MadeParagraph out;
  std::string& context = out.paragraph.context;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const auto left = static_cast<double>(statements.size() - i);
    // the room that is left, in equal parts before each statement
    for (double part = (length - tokens) / left; part > 12;) {
      const std::string sentence = writer.filler();
      const double count = estimated_tokens(sentence);
      append_sentence(context, sentence);
      part -= count;
      tokens += count;
    }
    append_sentence(context, statements[i].before);
    // the blank before an answer is the statement's own
    SquadAnswer answer{statements[i].answer, unicode::length(context)};
    context += statements[i].answer + statements[i].after;
    SquadQuestion question{"", statements[i].question, {}, false};
    question.is_impossible =
        options.some_impossible && writer.random().uniform() < kShareImpossible;
    out.plausible.emplace_back();
    if (question.is_impossible) {
      question.text = writer.statement().question;  // of a sentence that is not here
      out.plausible.back() = std::move(answer);
    } else {
      question.answers.assign(static_cast<std::size_t>(options.answers), answer);
    }
    out.paragraph.questions.push_back(std::move(question));
  }
  return out;
}

}  // namespace falcon::data
