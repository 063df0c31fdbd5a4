// Data set form `yolo`: pictures in <path>/images/<part>, labels of the same names below
// <path>/labels/<part> with .txt (or <path>/<part>/images and /labels; or, where there are no
// parts, <path>/images and <path>/labels, though not for an evaluation). Class names come from
// <path>/data.yaml (names, nc) when there is one, else the model's number of classes holds. A
// picture without a label file is a background. Reasons for leaving an item out, besides those of
// pictures and label lines:
//   missing_image   a label file without a picture
//   other_format    a picture that is no JPEG by its name
#pragma once
#include "data/detection_set.h"

namespace falcon::data {

/// Throws falcon::Error: as check_usable(), kHost when there is no picture folder, and InputError
/// when data.yaml cannot be used.
DetectionSet read_yolo_set(const DatasetOptions& options);

}  // namespace falcon::data
