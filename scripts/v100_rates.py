"""Published training rates of the GPU of "Performance Analysis of Deep Learning Workloads on a Composable System": one
NVIDIA V100 with 16 GB, samples/s. Whatever estimates or predicts for the paper's machine takes them from here."""

# One of eight on NVLink, mixed precision (MobileNetV2: fp32): NVIDIA DeepLearningExamples (ResNet-50 NGC 21.03,
# BERT-large NGC 20.06), lambdal/deeplearning-benchmark (BERT-base), pytorch/vision PR 818 (MobileNetV2),
# ultralytics/yolov5 v4.0 README (YOLOv5l, one GPU).
OF_EIGHT = {"resnet50": 1040, "bert_large": 45, "bert_base": 150, "mobilenet_v2": 409, "yolov5l": 68}
OF_EIGHT_FP32 = {"resnet50": 357, "bert_large": 7.6, "mobilenet_v2": 409}  # the same sources

# One alone, at a batch near the paper's, with where it was published: how fast it computes.
ALONE = {
    "resnet50": (1200, "NVIDIA DeepLearningExamples, NGC PyTorch 21.03: 1200 img/s, mixed precision, batch 256"),
    "mobilenet_v2": (409, "pytorch/vision PR 818: 3270 img/s on eight, fp32, batch 32; none is published for fp16"),
    "yolov5l": (68, "ultralytics/yolov5 v4.0: 6 days for 300 epochs of COCO, batch 24"),
    "bert_base": (122, "Hugging Face's SQuAD example: 24 min for 2 epochs, batch 12"),
    "bert_large": (39.1, "NVIDIA DeepLearningExamples, NGC TF2 21.02: 39.10 seq/s, mixed precision, batch 6"),
}
