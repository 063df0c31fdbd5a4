#include "data/yolo_labels.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.h"

namespace falcon::data {
namespace {

constexpr std::size_t kBoxColumns = 5;
constexpr std::size_t kLeastPolygonColumns = 7;
// What labels written with few digits are off by; a reader that refuses these loses whole pictures.
constexpr double kRounding = 1e-3;

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  constexpr std::string_view kBlanks = " \t\r";
  for (std::size_t at = line.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    columns.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlanks, end);
  }
  return columns;
}

struct Problem {
  std::string reason;
  std::string detail;
};

// Reads one line; returns an empty reason when the box is good.
class LineReader {
 public:
  explicit LineReader(std::int64_t classes) : classes_(classes) {}

  Problem read(std::string_view line, LabelledBox& box) {
    const std::vector<std::string_view> columns = columns_of(line);
    const bool is_polygon = columns.size() >= kLeastPolygonColumns && columns.size() % 2 == 1;
    if (columns.size() != kBoxColumns && !is_polygon) {
      return {"columns", std::to_string(columns.size()) +
                             " columns; accepted: 5 (class x y width height) or a polygon (class "
                             "and at least 3 pairs)"};
    }
    numbers_.clear();
    for (const std::string_view column : columns) {
      if (Problem problem = read_number(column); !problem.reason.empty()) return problem;
    }
    if (Problem problem = check_class(box); !problem.reason.empty()) return problem;
    for (std::size_t i = 1; i < numbers_.size(); ++i) {
      if (numbers_[i] < -kRounding || numbers_[i] > 1 + kRounding) {
        return {"out_of_range", base::number_text(numbers_[i]) + " in column " +
                                    std::to_string(i + 1) + "; accepted: 0 to 1"};
      }
    }
    return is_polygon ? take_polygon(box) : take_box(box);
  }

 private:
  Problem read_number(std::string_view column) {
    double number = 0;
    const char* end = column.data() + column.size();
    const char* begin = column.data() + (column.starts_with('+') ? 1 : 0);
    const auto parsed = std::from_chars(begin, end, number);
    if (parsed.ec == std::errc::result_out_of_range) number = HUGE_VAL;
    if (parsed.ptr != end || parsed.ec == std::errc::invalid_argument) {
      return {"not_a_number", base::printable(column) + " is no number"};
    }
    if (!std::isfinite(number)) return {"not_finite", base::printable(column) + " is not finite"};
    numbers_.push_back(number);
    return {};
  }

  Problem check_class(LabelledBox& box) const {
    const double most =
        classes_ > 0 ? static_cast<double>(classes_ - 1) : std::numeric_limits<std::int32_t>::max();
    const double label = numbers_[0];
    if (label < 0 || label > most || label != std::floor(label)) {
      return {"class_out_of_range",
              "class " + base::number_text(label) + "; accepted: 0.." + base::number_text(most)};
    }
    box.label = static_cast<std::int32_t>(label);
    return {};
  }

  Problem take_box(LabelledBox& box) const {
    const double x = numbers_[1];
    const double y = numbers_[2];
    const double width = numbers_[3];
    const double height = numbers_[4];
    if (!(width > 0 && height > 0)) return no_area();
    return cut_to_picture(x - width / 2, y - height / 2, x + width / 2, y + height / 2, box)
               ? Problem{}
               : no_area();
  }

  Problem take_polygon(LabelledBox& box) const {
    double low[2] = {1, 1};
    double high[2] = {0, 0};
    for (std::size_t i = 1; i < numbers_.size(); ++i) {
      const std::size_t axis = (i + 1) % 2;
      low[axis] = std::min(low[axis], numbers_[i]);
      high[axis] = std::max(high[axis], numbers_[i]);
    }
    return cut_to_picture(low[0], low[1], high[0], high[1], box) ? Problem{} : no_area();
  }

  static Problem no_area() { return {"no_area", "width and height must be above 0"}; }

  std::int64_t classes_;
  std::vector<double> numbers_;
};

}  // namespace

YoloLabels parse_yolo_labels(std::string_view text, const std::string& name, std::int64_t classes) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  YoloLabels labels;
  LineReader reader(classes);
  for (int line_number = 1; !text.empty(); ++line_number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    LabelledBox box;
    Problem problem = reader.read(line, box);
    if (problem.reason.empty() && std::ranges::find(labels.boxes, box) != labels.boxes.end()) {
      problem = {"duplicate_box", "the same box is there already"};
    }
    if (problem.reason.empty()) {
      labels.boxes.push_back(box);
    } else {
      labels.skipped.push_back({name + ":" + std::to_string(line_number), std::move(problem.reason),
                                std::move(problem.detail)});
    }
  }
  return labels;
}

}  // namespace falcon::data
