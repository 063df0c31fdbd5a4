#include "data_squad/squad_files.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "base/text.h"

namespace falcon::test {
namespace fs = std::filesystem;

std::optional<fs::path> reference_data(const std::string& name) {
  const char* named = std::getenv("FALCONBENCH_REFERENCE_DATA_DIR");
  std::error_code error;
  for (const fs::path& folder :
       named != nullptr
           ? std::vector<fs::path>{named}
           : std::vector<fs::path>{"../shared/reference/data", "tests/data/reference_data"}) {
    if (fs::exists(folder / name, error)) return folder / name;
  }
  return std::nullopt;
}

std::vector<Json> read_json_lines(const fs::path& file) {
  std::ifstream text(file);
  std::vector<Json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
  return lines;
}

data::Vocabulary vocabulary_of(const std::string& words) {
  std::string text = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (const std::string& word : base::split(words, ' ')) text += word + "\n";
  return data::Vocabulary(text, "made");
}

void write_text(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out << text;
  if (!out) throw std::runtime_error("cannot write " + file.string());
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string squad_json(const std::vector<data::SquadParagraph>& paragraphs,
                       const std::string& version) {
  Json list = Json::array();
  for (const data::SquadParagraph& paragraph : paragraphs) {
    Json questions = Json::array();
    for (const data::SquadQuestion& question : paragraph.questions) {
      Json answers = Json::array();
      for (const data::SquadAnswer& answer : question.answers) {
        answers.push_back({{"text", answer.text}, {"answer_start", answer.start}});
      }
      Json one = {{"id", question.id}, {"question", question.text}, {"answers", answers}};
      if (question.is_impossible) one["is_impossible"] = true;
      questions.push_back(one);
    }
    list.push_back({{"context", paragraph.context}, {"qas", questions}});
  }
  const Json article = {{"title", "made"}, {"paragraphs", list}};
  return Json{{"version", version}, {"data", Json::array({article})}}.dump(1);
}

}  // namespace falcon::test
