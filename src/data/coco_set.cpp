#include "data/coco_set.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "data/coco_annotations.h"
#include "falconbench/errors.h"

namespace falcon::data {
namespace fs = std::filesystem;
namespace {

using PlaceOfId = std::unordered_map<std::int64_t, std::size_t>;

// An annotation file that is made for other classes than the model learns measures nothing.
void check_same_classes(const std::vector<CocoCategory>& own, const fs::path& own_file,
                        const std::vector<CocoCategory>& known, const fs::path& known_file) {
  std::unordered_map<std::int64_t, std::string> names;
  for (const CocoCategory& category : known) names.try_emplace(category.id, category.name);
  for (const CocoCategory& category : own) {
    const auto found = names.find(category.id);
    if (found != names.end() && found->second == category.name) continue;
    throw Error(
        ExitCode::kHost,
        base::printable(own_file.native(), 400) + ": its category " + std::to_string(category.id) +
            " (" + base::printable(category.name) + ") is not one of " +
            base::printable(known_file.native(), 400) +
            (found == names.end() ? "" : ", where it is " + base::printable(found->second)));
  }
}

PlaceOfId take_categories(std::vector<CocoCategory> categories, DetectionSet& set) {
  std::ranges::stable_sort(categories, {}, &CocoCategory::id);
  PlaceOfId places;
  for (CocoCategory& category : categories) {
    const auto [at, is_new] = places.try_emplace(category.id, set.classes.size());
    if (!is_new) {
      set.skipped.add({"categories: id " + std::to_string(category.id), "bad_record",
                       "a second category with this id"});
      continue;
    }
    set.classes.push_back(std::move(category.name));
  }
  return places;
}

bool leads_out(const std::string& name) {
  const fs::path path(name);
  return path.is_absolute() || std::ranges::find(path, fs::path("..")) != path.end();
}

PlaceOfId take_images(std::vector<CocoImage> images, std::vector<PictureDraft>& drafts,
                      DetectionSet& set) {
  PlaceOfId places;
  for (CocoImage& image : images) {
    if (leads_out(image.file_name)) {
      set.skipped.add({std::move(image.file_name), "bad_name",
                       "a file name must stay below the picture folder"});
    } else if (!places.try_emplace(image.id, drafts.size()).second) {
      set.skipped.add({std::move(image.file_name), "duplicate_image",
                       "a second picture with the id " + std::to_string(image.id)});
    } else {
      drafts.push_back({std::move(image.file_name), image.width, image.height, {}});
    }
  }
  return places;
}

std::string box_text(const CocoAnnotation& a) {
  std::vector<std::string> numbers;
  for (const double number : a.box) numbers.push_back(base::number_text(number));
  return "bbox [" + base::join(numbers, ", ") + "]";
}

class BoxTaker {
 public:
  BoxTaker(const DatasetOptions& options, const PlaceOfId& categories, const PlaceOfId& images,
           std::vector<PictureDraft>& drafts, DetectionSet& set)
      : for_evaluation_(options.evaluation),
        categories_(categories),
        images_(images),
        drafts_(drafts),
        set_(set) {}

  void take(const CocoAnnotation& a) {
    const auto image = images_.find(a.image_id);
    if (image == images_.end()) {
      return skip(a, "unknown_image", "image_id " + std::to_string(a.image_id) + " is not listed");
    }
    PictureDraft& draft = drafts_[image->second];
    const auto category = categories_.find(a.category_id);
    if (category == categories_.end()) {
      return skip(a, "unknown_category",
                  "category_id " + std::to_string(a.category_id) + " is not listed");
    }
    if (!(a.box[2] > 0 && a.box[3] > 0)) {
      return skip(a, "no_area", box_text(a) + ": width and height must be above 0");
    }
    if (a.is_crowd && !for_evaluation_) {
      return skip(a, "crowd", "a region of many objects is no training target");
    }
    LabelledBox box{.label = static_cast<std::int32_t>(category->second), .is_crowd = a.is_crowd};
    if (!cut_to_picture(a.box[0] / draft.width, a.box[1] / draft.height,
                        (a.box[0] + a.box[2]) / draft.width, (a.box[1] + a.box[3]) / draft.height,
                        box)) {
      return skip(a, "outside",
                  box_text(a) + " has no part in a picture of " + std::to_string(draft.width) +
                      " x " + std::to_string(draft.height));
    }
    if (!for_evaluation_ && std::ranges::find(draft.boxes, box) != draft.boxes.end()) {
      return skip(a, "duplicate_box", box_text(a) + " is there already");
    }
    draft.boxes.push_back(box);
  }

 private:
  void skip(const CocoAnnotation& a, std::string reason, std::string detail) {
    set_.skipped.add(
        {"annotations: id " + std::to_string(a.id), std::move(reason), std::move(detail)});
  }

  bool for_evaluation_;
  const PlaceOfId& categories_;
  const PlaceOfId& images_;
  std::vector<PictureDraft>& drafts_;
  DetectionSet& set_;
};

}  // namespace

DetectionSet read_coco_set(const DatasetOptions& options) {
  DetectionSet set;
  set.labels = options.path / (options.annotations.empty()
                                   ? "annotations/instances_" + options.subfolder + ".json"
                                   : options.annotations);
  const fs::path candidates[] = {options.subfolder, fs::path("images") / options.subfolder,
                                 "images"};
  CocoAnnotations read = read_coco_annotations(set.labels);
  if (!options.class_annotations.empty()) {
    const fs::path file = options.path / options.class_annotations;
    std::vector<CocoCategory> known = read_coco_annotations(file).categories;
    check_same_classes(read.categories, set.labels, known, file);
    read.categories = std::move(known);
  }
  set.folder = options.path / candidates[find_picture_folder(options, candidates)];
  for (SkippedItem& item : read.bad_records) set.skipped.add(std::move(item));
  std::vector<PictureDraft> drafts;
  const PlaceOfId categories = take_categories(std::move(read.categories), set);
  const PlaceOfId images = take_images(std::move(read.images), drafts, set);
  BoxTaker taker(options, categories, images, drafts, set);
  for (const CocoAnnotation& annotation : read.annotations) taker.take(annotation);
  add_pictures(set, std::move(drafts), options.threads);
  check_usable(set, options);
  return set;
}

}  // namespace falcon::data
