export const watchChinese = {
  "tab.watch": "训练", "watch.waiting": "训练还没有完成最初的更新，一有结果就会显示在这里。",
  "watch.running": "{name} 正在训练：第 {step} 步，{time}，损失 {loss}。", "watch.quiet": "{name}：第 {step} 步，{time}，损失 {loss}。已有 {idle} 没有新消息：训练被停止，或在等待。",
  "watch.finished": "{name} 训练完成，共 {step} 步，{time}：{text}。", "watch.away": "暂时读不到这次训练（{error}）。训练结束后，可以用“dragoman watch”再看一遍。",
  "watch.place": "显示哪一次验证", "watch.replay": "重放训练", "watch.pause": "暂停", "watch.at": "第 {step} 步 · {time} · 验证损失 {loss} · BLEU {bleu}", "watch.none": "还没有验证",
  "watch.curves": "曲线", "watch.loss": "损失（每词 nat）：蓝色为训练（含标签平滑），橙色为验证", "watch.bleu": "验证文本的 BLEU",
  "watch.samples": "第 {step} 步的译文样例", "watch.samplesNote": "参考译文中也有的词用粗体。",
  "watch.attention": "第 {step} 步的注意力", "watch.entropy": "一行的平均熵：第 {first_step} 步 {first} nat，现在 {now} nat。越集中越小。",
};
