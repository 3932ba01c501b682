// 「阅读」视图的中文文字。
export const readChinese = {
  "tab.read": "阅读", "heading.read": "阅读，并观看 Transformer 如何完成",
  "read.text": "文字", "read.second": "第二段文字", "read.second.compare": "用来比较的第二段文字……", "read.second.classify": "第二段文字，供句对模型使用；可以留空……",
  "read.task": "要找什么", "read.task.classify": "一个标签", "read.task.tag": "每个词的标注", "read.task.fill": "掩码处是什么词", "read.task.compare": "两段文字有多相似",
  "read.answer": "编码器找到的结果", "read.mask": "插入掩码", "read.noMask": "在要猜的词的位置写 {mask}。",
  "read.place": "第 {place} 个掩码", "read.take": "填入这个词", "read.takeLabel": "{piece}，{share}：填入这个词",
  "read.tagNote": "每个词下面是它的标注，以及模型给出的概率。没有颜色的词标注为 O。", "read.noTags": "没有 O 以外的标注。",
  "read.fillNote": "这是模型在整个词表上的概率。点击一个词，就把它填入文字。",
  "read.moreLabels": "另有 {count} 个可能性更小的标签", "read.cosine": "两个向量的余弦",
  "read.cosineNote": "每段文字变成一个 {width} 维的向量。1：方向相同；0：毫无共同方向。若模型没有为比较文字而训练，这个数说明不了多少。",
  "read.startTitle": "这个模型阅读文字：{model}", "read.startAccuracy": "验证集准确率 {accuracy} %", "read.startLabels": "它认识 {count} 个标签：{labels}",
  "card.encoder": "编码器：阅读文字。", "card.accuracy": "准确率",
  "error.noMaskLeft": "模型能读到的部分里没有 {mask}。", "error.tooManyMasks": "文字里有 {size} 个掩码；服务器一次最多接受 {limit} 个。",
  "error.lateReading": "阅读超过了本服务器允许的时间。请缩短文字。",
};
