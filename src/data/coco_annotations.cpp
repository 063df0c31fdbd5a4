#include "data/coco_annotations.h"

#include <limits>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "data/json_stream.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace {

// Depths: 1 in the document's map, 2 in one of its lists, 3 in a record, 4 in a list of a record.
class CocoEvents : public JsonEvents {
 public:
  explicit CocoEvents(const std::filesystem::path& file) : file_(file) {}

  bool null() override { return skip_value(); }
  bool boolean(bool value) override { return number(value ? 1 : 0); }
  bool number_integer(number_integer_t value) override {
    whole_ = value;
    return number(static_cast<double>(value), true);
  }
  bool number_unsigned(number_unsigned_t value) override {
    const bool fits =
        value <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max());
    whole_ = fits ? static_cast<std::int64_t>(value) : 0;
    return number(static_cast<double>(value), fits);
  }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool string(string_t& text) override {
    if (depth_ == 3 && (key_ == "file_name" || key_ == "name")) text_ = std::move(text);
    return skip_value();
  }
  bool key(string_t& name) override {
    if (depth_ == 1) section_ = section_of(name);
    if (depth_ == 3) key_ = std::move(name);
    return true;
  }
  bool start_object(std::size_t) override {
    open(false);
    if (depth_ == 3 && section_ != kOther) start_record();
    return true;
  }
  bool end_object() override {
    if (depth_ == 3 && section_ != kOther) end_record();
    --depth_;
    return true;
  }
  bool start_array(std::size_t) override {
    open(true);
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }

  CocoAnnotations take() {
    std::vector<std::string> missing;
    for (const Section section : {kImages, kAnnotations, kCategories}) {
      if (!is_list_[section]) missing.emplace_back(kNames[section]);
    }
    if (!missing.empty()) {
      throw InputError({Fault{file_.native(), 1, 1, "",
                              "has no list " + base::join(missing, ", ") +
                                  "; a COCO annotation file is a map with the lists images, "
                                  "annotations and categories"}});
    }
    return std::move(result_);
  }

 private:
  enum Section { kImages, kAnnotations, kCategories, kOther };
  static constexpr std::string_view kNames[] = {"images", "annotations", "categories"};
  enum Need : unsigned { kId = 1, kFile = 2, kWidth = 4, kHeight = 8, kImage = 16, kCategory = 32 };

  static Section section_of(std::string_view name) {
    for (const Section section : {kImages, kAnnotations, kCategories}) {
      if (name == kNames[section]) return section;
    }
    return kOther;
  }

  void open(bool is_list) {
    if (depth_ == 0 && is_list) refuse("is a list, expected a map");
    if (depth_ == 1 && section_ != kOther) {
      if (!is_list) refuse(std::string(kNames[section_]) + " is no list");
      is_list_[section_] = true;
    }
    if (depth_ == 3) numbers_ = 0;
    ++depth_;
  }
  [[noreturn]] void refuse(const std::string& message) const {
    refuse_json(file_, offset() > 0 ? offset() - 1 : 0, message);
  }
  bool skip_value() {
    if (depth_ == 0) refuse("is no map");
    if (depth_ == 1 && section_ != kOther) refuse(std::string(kNames[section_]) + " is no list");
    return true;
  }

  void start_record() {
    seen_ = 0;
    numbers_ = 0;
    has_box_ = false;
    image_ = {};
    annotation_ = {};
    category_ = {};
    text_.clear();
  }

  bool number(double value, bool is_whole = false) {
    if (depth_ == 4 && key_ == "bbox") {
      if (numbers_ < 4) annotation_.box[static_cast<std::size_t>(numbers_)] = value;
      has_box_ = ++numbers_ == 4;
      return true;
    }
    if (depth_ != 3) return skip_value();
    if (key_ == "iscrowd") annotation_.is_crowd = value != 0;
    if (is_whole) whole_number();
    return true;
  }

  void whole_number() {
    const bool is_size = whole_ > 0 && whole_ <= std::numeric_limits<int>::max();
    if (key_ == "id") {
      image_.id = annotation_.id = category_.id = whole_;
      seen_ |= kId;
    } else if (key_ == "image_id") {
      annotation_.image_id = whole_;
      seen_ |= kImage;
    } else if (key_ == "category_id") {
      annotation_.category_id = whole_;
      seen_ |= kCategory;
    } else if (key_ == "width" && is_size) {
      image_.width = static_cast<int>(whole_);
      seen_ |= kWidth;
    } else if (key_ == "height" && is_size) {
      image_.height = static_cast<int>(whole_);
      seen_ |= kHeight;
    }
  }

  void end_record() {
    if (section_ == kImages) {
      image_.file_name = std::move(text_);
      if (!image_.file_name.empty()) seen_ |= kFile;
      if (complete(kId | kFile | kWidth | kHeight, "id, file_name, width, height")) {
        result_.images.push_back(std::move(image_));
      }
    } else if (section_ == kAnnotations) {
      if (complete(kImage | kCategory, "image_id, category_id, bbox of 4 numbers", has_box_)) {
        result_.annotations.push_back(annotation_);
      }
    } else if (complete(kId, "id")) {
      category_.name = text_.empty() ? std::to_string(category_.id) : std::move(text_);
      result_.categories.push_back(std::move(category_));
    }
  }

  bool complete(unsigned needs, const char* fields, bool has_rest = true) {
    if ((seen_ & needs) == needs && has_rest) return true;
    const std::string id = (seen_ & kId) != 0 ? "id " + std::to_string(image_.id) : "no id";
    result_.bad_records.push_back(
        {std::string(kNames[section_]) + ": " + id, "bad_record",
         "the record that ends at byte " + std::to_string(offset()) + " needs " + fields});
    return false;
  }

  const std::filesystem::path& file_;
  CocoAnnotations result_;
  int depth_ = 0;
  Section section_ = kOther;
  bool is_list_[kOther] = {};
  std::string key_;
  std::int64_t whole_ = 0;  // the number in work
  unsigned seen_ = 0;       // of Need, in the record in work
  int numbers_ = 0;
  bool has_box_ = false;
  std::string text_;
  CocoImage image_;
  CocoAnnotation annotation_;
  CocoCategory category_;
};

}  // namespace

CocoAnnotations read_coco_annotations(const std::filesystem::path& file) {
  CocoEvents events(file);
  stream_json(file, events);
  return events.take();
}

}  // namespace falcon::data
