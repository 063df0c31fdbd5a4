#include "data/squad_tokens.h"

#include <string_view>
#include <utility>

#include "data/parallel_for.h"
#include "data/unicode.h"

namespace falcon::data {
namespace {

struct ParagraphTokens {
  std::vector<Token> context;
  std::vector<std::vector<Token>> questions;
};

// As Python's lstrip().
std::string_view without_leading_space(std::string_view text) {
  std::size_t at = 0;
  for (std::size_t next = 0; next < text.size(); at = next) {
    if (!unicode::is_python_space(unicode::next(text, next))) break;
  }
  return text.substr(at);
}

TokenRun append(const std::vector<Token>& tokens, SquadTokens& all) {
  const TokenRun run{all.ids.size(), tokens.size()};
  for (const Token& token : tokens) {
    all.ids.push_back(token.id);
    all.begins.push_back(token.begin);
    all.ends.push_back(token.end);
  }
  return run;
}

SquadTokens::Question question_of(const SquadQuestion& question, std::size_t context,
                                  TokenRun tokens) {
  SquadTokens::Question out;
  out.tokens = tokens;
  out.context = static_cast<std::uint32_t>(context);
  if (question.answers.empty()) return out;
  const SquadAnswer& answer = question.answers.front();
  out.is_answered = 1;
  out.answer_begin = static_cast<std::uint32_t>(answer.start);
  out.answer_end = static_cast<std::uint32_t>(answer.start + unicode::length(answer.text));
  return out;
}

}  // namespace

void tokenize_paragraphs(const std::vector<SquadParagraph>& paragraphs, const WordPiece& tokenizer,
                         int threads, SquadTokens& tokens) {
  std::vector<ParagraphTokens> parts(paragraphs.size());
  const auto count = static_cast<std::int64_t>(paragraphs.size());
  parallel_for(count, thread_count(threads, count), [&](int, std::int64_t i) {
    const SquadParagraph& paragraph = paragraphs[static_cast<std::size_t>(i)];
    ParagraphTokens& part = parts[static_cast<std::size_t>(i)];
    part.context = tokenizer.encode(paragraph.context);
    for (const SquadQuestion& question : paragraph.questions) {
      part.questions.push_back(tokenizer.encode(without_leading_space(question.text)));
    }
  });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t context = tokens.contexts.size();
    tokens.contexts.push_back({append(parts[i].context, tokens)});
    for (std::size_t q = 0; q < parts[i].questions.size(); ++q) {
      tokens.question_ids.push_back(paragraphs[i].questions[q].id);
      tokens.questions.push_back(
          question_of(paragraphs[i].questions[q], context, append(parts[i].questions[q], tokens)));
    }
    parts[i] = {};
  }
}

SquadTokens tokenize_squad(const std::filesystem::path& file, const WordPiece& tokenizer,
                           int threads) {
  SquadTokens tokens;
  std::vector<SquadParagraph> paragraphs;
  tokens.facts = read_squad(
      file, [&](SquadParagraph&& paragraph) { paragraphs.push_back(std::move(paragraph)); },
      [&](SkippedItem item) { tokens.left_out.add(std::move(item)); });
  tokenize_paragraphs(paragraphs, tokenizer, threads, tokens);
  return tokens;
}

}  // namespace falcon::data
