export const compareChinese = {
  "two.title": "比较两个句子", "two.open": "比较两个句子", "two.close": "回到一个句子", "two.first": "第一句", "two.second": "第二句", "two.go": "比较",
  "two.same": "两个译文相同。", "two.part": "两个译文在“{left}”和“{right}”处分开。",
  "two.cross": "生成这个词时，{kind}第 {layer} 层第 {head} 头：第一句看“{gain}” {gainLeft}，第二句 {gainRight}；看“{loss}”分别是 {lossLeft} 和 {lossRight}。",
  "two.crossWeak": "在那一步，没有一个交叉注意力头在两个词之间移动 {limit} 以上。",
  "two.encoder": "编码器第 {layer} 层第 {head} 头中，“{word}”这一行变化最大：“{gain}” {gainLeft} 和 {gainRight}，“{loss}” {lossLeft} 和 {lossRight}。",
  "two.ranking": "按从一个词移到另一个词的多少排列的头", "two.column.head": "头", "two.column.row": "行", "two.column.gain": "第一句较多", "two.column.loss": "第二句较多", "two.head": "{kind}，第 {layer} 层，第 {head} 头",
  "two.heads": "每个头的差", "two.headsNote": "橙色：第一句的权重较大；蓝色：第二句较大。不同的词共用一行或一列。", "two.difference": "第一句减第二句",
  "two.rows": "行看列。在解码器里，一行是刚读入的词。一个词的各个片段合在一起：列相加，行取平均。",
};
