#include "data/make_squad.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include "base/counter_random.h"
#include "data/made_text.h"
#include "data/parallel_for.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kParagraphsOfArticle = 5;
constexpr int kDevAnswers = 3;  // as many as the original dev files have to a question

struct Split {
  std::string name;  // train or dev
  std::int64_t questions = 0;
  bool is_dev = false;
};

void check_options(const MakeSquadOptions& o) {
  const auto need = [](bool good, const std::string& text) {
    if (!good) throw Error(ExitCode::kUsage, "making a SQuAD set: " + text);
  };
  need(o.train >= 1 && o.train <= 1'000'000'000, "train must be 1 or more questions");
  need(o.val >= 0 && o.val <= 1'000'000'000, "val must be 0 or more questions");
  need(o.version == "v1.1" || o.version == "v2.0", "version must be v1.1 or v2.0");
}

// Questions of each paragraph: 3 to 8, 5.5 on average, together as many as wanted.
std::vector<int> questions_of_paragraphs(const MakeSquadOptions& o, const Split& split) {
  base::CounterRandom random({o.seed, 0x71756573, split.is_dev ? 1U : 0U});  // "ques"
  std::vector<int> counts;
  for (std::int64_t left = split.questions; left > 0; left -= counts.back()) {
    const auto drawn = 3 + static_cast<std::int64_t>(random.below(6));
    counts.push_back(static_cast<int>(std::min(drawn, left)));
  }
  return counts;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string json_of(const SquadAnswer& answer) {
  return "{\"text\": " + quoted(answer.text) +
         ", \"answer_start\": " + std::to_string(answer.start) + "}";
}

std::string made_id(const MakeSquadOptions& o, const Split& split, std::int64_t paragraph,
                    std::size_t question) {
  const base::CounterRandom random({o.seed, 0x6964, split.is_dev ? 1U : 0U,
                                    static_cast<std::uint64_t>(paragraph), question});  // "id"
  char text[25];
  std::snprintf(text, sizeof text, "%016llx%08llx", static_cast<unsigned long long>(random.at(0)),
                static_cast<unsigned long long>(random.at(1) >> 32));
  return text;
}

std::string json_of(const MakeSquadOptions& o, const Split& split, std::int64_t index,
                    const MadeParagraph& made) {
  const bool is_v2 = o.version == "v2.0";
  std::string out = "{\"context\": " + quoted(made.paragraph.context) + ", \"qas\": [";
  for (std::size_t q = 0; q < made.paragraph.questions.size(); ++q) {
    const SquadQuestion& question = made.paragraph.questions[q];
    out += std::string(q > 0 ? ", " : "") + "{\"question\": " + quoted(question.text) +
           ", \"id\": " + quoted(made_id(o, split, index, q)) + ", \"answers\": [";
    for (std::size_t a = 0; a < question.answers.size(); ++a) {
      out += (a > 0 ? ", " : "") + json_of(question.answers[a]);
    }
    out += "]";
    if (made.plausible[q]) out += ", \"plausible_answers\": [" + json_of(*made.plausible[q]) + "]";
    if (is_v2) {
      out += std::string(", \"is_impossible\": ") + (question.is_impossible ? "true" : "false");
    }
    out += "}";
  }
  return out + "]}";
}

std::string made_file(const MakeSquadOptions& o, const Split& split,
                      const MadeVocabulary& vocabulary, int threads,
                      const ProgressFunction& progress) {
  const std::vector<int> counts = questions_of_paragraphs(o, split);
  const auto total = static_cast<std::int64_t>(counts.size());
  std::vector<std::string> parts(counts.size());
  parallel_for(total, thread_count(threads, total), [&](int thread, std::int64_t i) {
    MadeTextOptions text;
    text.questions = counts[static_cast<std::size_t>(i)];
    text.some_impossible = o.version == "v2.0";
    text.answers = split.is_dev ? kDevAnswers : 1;
    const auto index = 2 * static_cast<std::uint64_t>(i) + (split.is_dev ? 1 : 0);
    parts[static_cast<std::size_t>(i)] =
        json_of(o, split, i, made_paragraph(vocabulary, text, o.seed, index));
    if (thread == 0 && progress) progress(i + 1, total);
  });
  std::string out =
      "{\"version\": " + quoted(o.version == "v2.0" ? o.version : "1.1") + ", \"data\": [";
  for (std::int64_t i = 0; i < total; ++i) {
    if (i % kParagraphsOfArticle == 0) {
      out += std::string(i > 0 ? "]}, " : "") + "{\"title\": \"Made_" + split.name + "_" +
             std::to_string(i / kParagraphsOfArticle) + "\", \"paragraphs\": [";
    } else {
      out += ", ";
    }
    out += parts[static_cast<std::size_t>(i)];
  }
  return out + "]}]}";
}

}  // namespace

bool is_squad_file_name(std::string_view name) {
  return name == kVocabularyName ||
         ((name.starts_with("train-") || name.starts_with("dev-")) && name.ends_with(".json"));
}

MadeSet make_squad(const fs::path& path, const MakeSquadOptions& options, int threads,
                   const ProgressFunction& progress) {
  check_options(options);
  const SetRecipe recipe{"squad",
                         "train=" + std::to_string(options.train) +
                             " val=" + std::to_string(options.val) + " version=" + options.version +
                             " seed=" + std::to_string(options.seed),
                         is_squad_file_name};
  return make_set(path, recipe, progress, [&](const fs::path& folder) {
    const SetWriter writer(folder);
    SetContent content;
    const MadeVocabulary vocabulary = made_vocabulary();
    std::string lines;
    for (const std::string& token : vocabulary.tokens) lines += token + "\n";
    writer.write(kVocabularyName, lines, content);
    for (const Split& split :
         {Split{"train", options.train, false}, Split{"dev", options.val, true}}) {
      if (split.questions == 0) continue;
      writer.write(split.name + "-" + options.version + ".json",
                   made_file(options, split, vocabulary, threads, progress), content);
    }
    return content;
  });
}

MadeSet make_squad_set(const fs::path& path, const MakeSpec& make, std::uint64_t seed,
                       const ProgressFunction& progress) {
  return make_squad(path, {make.train, make.val, make.version.value(), seed}, 0, progress);
}

}  // namespace falcon::data
