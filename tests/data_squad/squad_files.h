// Vocabularies, SQuAD files and reference numbers for the tests of question answering.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "data/squad_file.h"
#include "data/vocabulary.h"
#include "data_loader/picture_files.h"

namespace falcon::test {

using Json = nlohmann::json;

/// The lines of a file of the reference set: FALCONBENCH_REFERENCE_DATA_DIR, else the folder beside
/// the checkout when `whole`, else the copy in tests/data/reference_data. Nothing when it is not
/// there.
std::optional<std::filesystem::path> reference_data(const std::string& name);
std::vector<Json> read_json_lines(const std::filesystem::path& file);

/// [PAD] [UNK] [CLS] [SEP] [MASK], then the words given, in this order.
data::Vocabulary vocabulary_of(const std::string& words);

void write_text(const std::filesystem::path& file, const std::string& text);
std::string read_text(const std::filesystem::path& file);

/// A file with one article, and one paragraph for each of `paragraphs`.
std::string squad_json(const std::vector<data::SquadParagraph>& paragraphs,
                       const std::string& version = "1.1");

}  // namespace falcon::test
