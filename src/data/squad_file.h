// A SQuAD file (v1.1 or v2.0), read as a stream: one paragraph after the other, each with the
// questions that can be used. Which of the two it is follows from the questions, not from the name.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "falconbench/dataset.h"

namespace falcon::data {

struct SquadAnswer {
  std::string text;
  std::int64_t start = 0;  // characters (code points) before it in the context
};

struct SquadQuestion {
  std::string id;
  std::string text;
  std::vector<SquadAnswer> answers;  // none when it is impossible; training takes the first
  bool is_impossible = false;
};

struct SquadParagraph {
  std::string context;
  std::vector<SquadQuestion> questions;
};

struct SquadFileFacts {
  std::string version;  // as the file says
  std::int64_t articles = 0;
  std::int64_t paragraphs = 0;
  std::int64_t questions = 0;   // usable ones
  std::int64_t impossible = 0;  // of these
  std::int64_t answers = 0;
  std::int64_t repeated_ids = 0;  // usable questions whose id another one before them has
};

/// Calls paragraph() for each paragraph with a usable question, in the order of the file, and
/// left_out() for each question that cannot be used. Reasons: no_id, malformed (a field is missing
/// or of another kind), no_answer (none, and not impossible), contradiction (impossible, but with
/// an answer), empty_answer, answer_outside (of the context), answer_mismatch (the context has
/// another text there). plausible_answers are no answers.
/// Throws falcon::Error: kHost when the file cannot be read; InputError with line and column when
/// it is no JSON or has another structure.
SquadFileFacts read_squad(const std::filesystem::path& file,
                          const std::function<void(SquadParagraph&&)>& paragraph,
                          const std::function<void(SkippedItem)>& left_out);

}  // namespace falcon::data
