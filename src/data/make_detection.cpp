#include "data/make_detection.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counter_random.h"
#include "data/file_kind.h"
#include "data/jpeg_encoder.h"
#include "data/parallel_for.h"
#include "data/shapes_picture.h"

namespace falcon::data {
namespace fs = std::filesystem;
namespace {

constexpr double kUprightShare = 0.3;  // as in COCO

// What one picture leaves for the label files.
struct PictureLabels {
  std::string name;  // of the file
  int width = 0;
  int height = 0;
  std::vector<DrawnShape> shapes;
};

std::string numbered(std::int64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "%012lld", static_cast<long long>(number));
  return text;
}

std::string options_text(const MakeSpec& m, std::uint64_t seed) {
  return "train=" + std::to_string(m.train) + " val=" + std::to_string(m.val) +
         " classes=" + std::to_string(*m.classes) + " boxes=" + std::to_string(*m.boxes) +
         " side=" + std::to_string(*m.side) + " quality=" + std::to_string(*m.quality) +
         " seed=" + std::to_string(seed);
}

// The longer side varies by a fifth around make.side, the shorter is three quarters of it.
ShapesOptions shapes_options(const MakeSpec& make, std::uint64_t seed, std::int64_t index) {
  base::CounterRandom random({seed, 5, static_cast<std::uint64_t>(index)});
  const int longer =
      static_cast<int>(static_cast<double>(*make.side) * random.uniform(0.8, 1.2) + 0.5);
  const int shorter = longer * 3 / 4;
  const bool is_upright = random.uniform() < kUprightShare;
  return {.width = is_upright ? shorter : longer,
          .height = is_upright ? longer : shorter,
          .classes = static_cast<int>(*make.classes),
          .boxes = static_cast<int>(*make.boxes),
          .seed = seed,
          .index = index};
}

class DetectionMaker {
 public:
  DetectionMaker(const MakeSpec& make, std::uint64_t seed, const ProgressFunction& progress)
      : make_(make), seed_(seed), progress_(progress) {}

  /// The pictures of a part ("train"); first: index of its first picture.
  std::vector<PictureLabels> write_pictures(const SetWriter& writer, const std::string& part,
                                            std::int64_t first, std::int64_t count,
                                            SetContent& content) const {
    std::vector<PictureLabels> labels(static_cast<std::size_t>(count));
    const int used = thread_count(0, count);
    std::vector<SetContent> contents(static_cast<std::size_t>(used));
    parallel_for(count, used, [&](int thread, std::int64_t i) {
      const ShapesOptions options = shapes_options(make_, seed_, first + i);
      ShapesPicture picture = shapes_picture(options);
      PictureLabels& label = labels[static_cast<std::size_t>(i)];
      label = {numbered(i + 1) + ".jpg", options.width, options.height, std::move(picture.shapes)};
      writer.write(
          "images/" + part + "/" + label.name,
          encode_jpeg(picture.rgb, options.width, options.height, static_cast<int>(*make_.quality)),
          contents[static_cast<std::size_t>(thread)]);
      if (thread == 0 && progress_) progress_(first + i + 1, make_.train + make_.val);
    });
    for (const SetContent& one : contents) content.add(one);
    return labels;
  }

 private:
  const MakeSpec& make_;
  std::uint64_t seed_;
  const ProgressFunction& progress_;
};

// Appends formatted text. All names made here need no escapes.
template <class... Numbers>
void append(std::string& text, const char* format, Numbers... numbers) {
  char line[256];
  std::snprintf(line, sizeof line, format, numbers...);
  text += line;
}

// Written as text: a tree of a full COCO's boxes would take a gigabyte.
std::string coco_text(const std::vector<PictureLabels>& pictures, std::int64_t classes) {
  std::string images;
  std::string annotations;
  std::string categories;
  long long next_id = 1;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const PictureLabels& picture = pictures[i];
    append(images, R"(%s{"id":%zu,"file_name":"%s","width":%d,"height":%d})", i > 0 ? ",\n" : "",
           i + 1, picture.name.c_str(), picture.width, picture.height);
    for (const DrawnShape& s : picture.shapes) {
      append(annotations,
             R"(%s{"id":%lld,"image_id":%zu,"category_id":%d,"bbox":[%d,%d,%d,%d],"area":%d,)"
             R"("segmentation":[],"iscrowd":0})",
             next_id > 1 ? ",\n" : "", next_id, i + 1, s.label + 1, s.left, s.top, s.width,
             s.height, s.width * s.height);
      ++next_id;
    }
  }
  for (std::int64_t label = 0; label < classes; ++label) {
    append(categories, R"(%s{"id":%lld,"name":"%s"})", label > 0 ? ",\n" : "",
           static_cast<long long>(label + 1), made_class_name(label).c_str());
  }
  return "{\"images\":[" + images + "],\n\"annotations\":[" + annotations + "],\n\"categories\":[" +
         categories + "]}\n";
}

std::string yolo_text(const PictureLabels& picture) {
  std::string text;
  for (const DrawnShape& s : picture.shapes) {
    append(text, "%d %.8f %.8f %.8f %.8f\n", s.label, (s.left + s.width / 2.0) / picture.width,
           (s.top + s.height / 2.0) / picture.height, static_cast<double>(s.width) / picture.width,
           static_cast<double>(s.height) / picture.height);
  }
  return text;
}

std::string data_yaml(const MakeSpec& make) {
  std::string text = "path: .\ntrain: images/train\n";
  if (make.val > 0) text += "val: images/val\n";
  text += "nc: " + std::to_string(*make.classes) + "\nnames:\n";
  for (std::int64_t label = 0; label < *make.classes; ++label) {
    text += "  " + std::to_string(label) + ": " + made_class_name(label) + "\n";
  }
  return text;
}

struct Part {
  std::string name;
  std::int64_t first = 0;
  std::int64_t count = 0;
};
std::vector<Part> parts_of(const MakeSpec& make) {
  std::vector<Part> parts = {{"train", 0, make.train}};
  if (make.val > 0) parts.push_back({"val", make.train, make.val});
  return parts;
}

}  // namespace

bool is_coco_file(std::string_view name) {
  return is_jpeg_name(name) || (name.starts_with("instances_") && name.ends_with(".json"));
}
bool is_yolo_file(std::string_view name) {
  return is_jpeg_name(name) || name.ends_with(".txt") || name == "data.yaml";
}

MadeSet make_coco_set(const fs::path& path, const MakeSpec& make, std::uint64_t seed,
                      const ProgressFunction& progress) {
  const DetectionMaker maker(make, seed, progress);
  return make_set(path, {"coco", options_text(make, seed), is_coco_file}, progress,
                  [&](const fs::path& folder) {
                    const SetWriter writer(folder);
                    SetContent content;
                    make_set_folder(folder / "annotations");
                    for (const Part& part : parts_of(make)) {
                      make_set_folder(folder / "images" / part.name);
                      const std::vector<PictureLabels> labels =
                          maker.write_pictures(writer, part.name, part.first, part.count, content);
                      writer.write("annotations/instances_" + part.name + ".json",
                                   coco_text(labels, *make.classes), content);
                    }
                    return content;
                  });
}

MadeSet make_yolo_set(const fs::path& path, const MakeSpec& make, std::uint64_t seed,
                      const ProgressFunction& progress) {
  const DetectionMaker maker(make, seed, progress);
  return make_set(
      path, {"yolo", options_text(make, seed), is_yolo_file}, progress,
      [&](const fs::path& folder) {
        const SetWriter writer(folder);
        SetContent content;
        for (const Part& part : parts_of(make)) {
          make_set_folder(folder / "images" / part.name);
          make_set_folder(folder / "labels" / part.name);
          for (const PictureLabels& picture :
               maker.write_pictures(writer, part.name, part.first, part.count, content)) {
            const std::string stem = fs::path(picture.name).stem().native();
            writer.write("labels/" + part.name + "/" + stem + ".txt", yolo_text(picture), content);
          }
        }
        writer.write("data.yaml", data_yaml(make), content);
        return content;
      });
}

}  // namespace falcon::data
