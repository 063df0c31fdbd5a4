// The tokens of a SQuAD file: every context and question once, with where the answers stand.
// Windows of any length are cut from them (data/squad_features.h).
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/skip_log.h"
#include "data/squad_file.h"
#include "data/wordpiece.h"

namespace falcon::data {

/// A run of SquadTokens::ids.
struct TokenRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

struct SquadTokens {
  struct Context {
    TokenRun tokens;
  };
  struct Question {
    TokenRun tokens;  // without the white space before the question
    std::uint32_t context = 0;
    std::uint32_t is_answered = 0;   // 0: impossible
    std::uint32_t answer_begin = 0;  // characters of the context: of the first answer,
    std::uint32_t answer_end = 0;    // to behind its last
  };
  std::vector<std::int32_t> ids;
  std::vector<std::uint32_t> begins, ends;  // characters, one for each of ids
  std::vector<Context> contexts;
  std::vector<Question> questions;  // in the order of the file
  std::vector<std::string> question_ids;
  SquadFileFacts facts;
  SkipLog left_out;
};

/// Reads and tokenizes the file. The result is the same for any number of threads; 0: one per core.
/// Throws as read_squad() does.
SquadTokens tokenize_squad(const std::filesystem::path& file, const WordPiece& tokenizer,
                           int threads = 0);

/// The same from paragraphs in memory.
void tokenize_paragraphs(const std::vector<SquadParagraph>& paragraphs, const WordPiece& tokenizer,
                         int threads, SquadTokens& tokens);

}  // namespace falcon::data
