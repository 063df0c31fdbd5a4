// Data set form `coco`: <path>/annotations/instances_<part>.json and its pictures in <path>/<part>,
// <path>/images/<part> or <path>/images (the first that is there). Labels are the places of the
// categories sorted by id, of those in options.class_annotations where that is given. Reasons for
// leaving a box out, besides those of pictures:
//   bad_record                a record without the fields it needs
//   duplicate_image           a second picture with the same id
//   bad_name                  a file name that leads out of the picture folder
//   unknown_image, unknown_category   an id that is not listed
//   no_area                   width or height not above 0
//   outside                   no part of it is in the picture (boxes over the edge are cut)
//   duplicate_box             the same again (training only, as the reference's converter)
//   crowd                     a region of many objects (kept for evaluation, marked)
#pragma once
#include "data/detection_set.h"

namespace falcon::data {

/// Throws what read_coco_annotations() throws, and falcon::Error: as check_usable(), and kHost when
/// a category is none of options.class_annotations.
DetectionSet read_coco_set(const DatasetOptions& options);

}  // namespace falcon::data
