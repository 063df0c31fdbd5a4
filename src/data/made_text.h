// Made-up paragraphs with questions that they answer, for training without the originals: word
// frequencies fall off as in English, lengths are spread as in SQuAD v1.1, and every question is
// about a sentence of its paragraph, so that reading helps.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "data/made_vocabulary.h"
#include "data/squad_file.h"

namespace falcon::data {

struct MadeTextOptions {
  int questions = 5;
  bool some_impossible = false;  // v2.0: about 45 % of the questions have no answer
  int answers = 1;               // to each question, all the same
};

struct MadeParagraph {
  SquadParagraph paragraph;  // without ids
  /// For each question: what looks like an answer to an impossible one.
  std::vector<std::optional<SquadAnswer>> plausible;
};

/// A pure function of its arguments. Thread-safe.
MadeParagraph made_paragraph(const MadeVocabulary& vocabulary, const MadeTextOptions& options,
                             std::uint64_t seed, std::uint64_t index);

}  // namespace falcon::data
