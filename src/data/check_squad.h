// Reads every SQuAD file of a folder and says which records cannot be used. Writes nothing.
#pragma once
#include <filesystem>

#include "data/made_set.h"

namespace falcon::data {

/// `path`: a folder with SQuAD files (*.json) and perhaps vocab.txt, or one such file. A file that
/// is no SQuAD file at all is one item with its fault. Throws falcon::Error (kHost) when there is
/// nothing to check.
SetCheck check_squad_set(const std::filesystem::path& path);

}  // namespace falcon::data
