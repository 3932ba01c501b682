#include "report/page_texts.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "report/html.h"

namespace dragoman::report {
namespace {

struct PageText {
  std::string_view english, chinese;
};

constexpr PageText kTexts[] = {
    // Charts and maps.
    {"Line chart: {0}", "折线图：{0}"},
    {"; {0} ends at {1} ({2} {3})", "；{0}止于 {1}（{2} {3}）"},
    {"{0}: {1} at {2} {3}", "{0}：{2} {3} 时 {1}"},
    {"best {0}: {1} at {2} {3}", "最佳{0}：{2} {3} 时 {1}"},
    {"{0}, seed {1}", "{0}，种子 {1}"},
    {"no values yet", "还没有数值"},
    {"Heat map: {0}; {1} rows ({2}), {3} columns ({4})", "热图：{0}；{1} 行（{2}），{3} 列（{4}）"},
    {"not a number", "不是数"},
    {"step", "步数"},
    // The report of a training.
    {"Training report", "训练报告"},
    {"training", "训练"},
    {"finished", "已完成"},
    {"finished: all steps done", "已完成：所有步数都已做完"},
    {"finished: all epochs done", "已完成：所有轮次都已做完"},
    {"finished: the time of the run is used up", "已完成：总时间已用完"},
    {"stopped: time is up; run the same command to go on", "已停止：时间到；运行同一命令即可继续"},
    {"stopped by a signal; run the same command to go on", "已被信号停止；运行同一命令即可继续"},
    {"finished: no improvement any more", "已完成：不再有进步"},
    {"Written by dragoman", "由 dragoman 生成"},
    {"Best BLEU", "最佳 BLEU"},
    {"Best chrF", "最佳 chrF"},
    {"Best accuracy", "最佳准确率"},
    {"Accuracy", "准确率"},
    {"Accuracy on validation", "验证集准确率"},
    {"Lowest perplexity", "最低困惑度"},
    {"at step {0}", "第 {0} 步"},
    {"Updates", "更新次数"},
    {"{0} epochs", "{0} 轮"},
    {"Training time", "训练时间"},
    {"Target tokens a second", "每秒目标词元数"},
    {"median", "中位数"},
    {"Curves", "曲线"},
    {"Loss, nats per target token", "损失（每个目标词元的 nat）"},
    {"training (smoothed)", "训练（平滑后）"},
    {"validation", "验证"},
    {"Validation perplexity", "验证困惑度"},
    {"perplexity", "困惑度"},
    {"Translation quality on validation", "验证集上的翻译质量"},
    {"Learning rate", "学习率"},
    {"Gradient norm before clipping", "裁剪前的梯度范数"},
    {"Divergence of the two passes, nats per target token", "两次前向的散度（每个目标词元的 nat）"},
    {"Sample translations", "翻译样例"},
    {"source", "原文"},
    {"reference", "参考译文"},
    {"step {0}", "第 {0} 步"},
    {"earlier translations", "更早的译文"},
    {"(empty)", "（空）"},
    {"Attention", "注意力"},
    {"Each row is a position that looks; the fuller the colour of a cell, the more it takes from the position of that "
     "column. Each row adds up to 1.",
     "每一行是一个正在看的位置；格子的颜色越深，它从那一列的位置取得越多。每行之和为 1。"},
    {"Encoder self-attention, last layer", "编码器自注意力，最后一层"},
    {"Cross-attention, last layer", "交叉注意力，最后一层"},
    {"target", "译文"},
    {"The run", "本次训练"},
    {"What happened", "大事记"},
    // Facts of a run.
    {"Model", "模型"},
    {"Data", "数据"},
    {"Training", "训练"},
    {"Machine", "机器"},
    {"Memory", "内存"},
    {"preset", "预设"},
    {"parameters", "参数"},
    {"layers", "层数"},
    {"d_model / d_ff / heads", "d_model / d_ff / 头数"},
    {"norm", "层归一化"},
    {"vocabulary", "词表"},
    {"pairs read", "读入的句对"},
    {"pairs kept", "保留的句对"},
    {"source tokens", "源语言词元"},
    {"target tokens", "目标语言词元"},
    {"batch", "批"},
    {"schedule", "学习率计划"},
    {"label smoothing", "标签平滑"},
    {"precision of products", "乘积精度"},
    {"seed", "随机种子"},
    {"attention dropout", "注意力 dropout"},
    {"activation dropout", "激活 dropout"},
    {"source word dropout", "源语言词 dropout"},
    {"target word dropout", "目标语言词 dropout"},
    {"sub-word sampling", "子词采样"},
    {"moving average", "滑动平均"},
    {"processor", "处理器"},
    {"instruction set", "指令集"},
    {"workers", "工作线程"},
    {"weights", "权重"},
    {"optimizer", "优化器"},
    {"gradients", "梯度"},
    {"matrices", "Muon 的矩阵"},
    {"packed weights", "打包的权重"},
    {"activations", "激活"},
    {"scratch", "临时空间"},
    {"averaging", "平均"},
    {"text and program", "文本和程序"},
    {"peak", "峰值"},
    {"budget", "预算"},
    // The report of a study.
    {"What to conclude", "结论"},
    {"Scores", "得分"},
    {"The study", "本次研究"},
    {"{0} of {1} runs are done", "{1} 次训练中已完成 {0} 次"},
    {"{0} is better than {1}: {2} {6} on {3}, seeds: {4}, p {5}.",
     "{0} 优于 {1}：在 {3} 上 {6} 相差 {2}，种子数 {4}，p {5}。"},
    {"{0} is worse than {1}: {2} {6} on {3}, seeds: {4}, p {5}.",
     "{0} 不如 {1}：在 {3} 上 {6} 相差 {2}，种子数 {4}，p {5}。"},
    {"{0} against {1} is undecided: {2} {6} on {3}, seeds: {4}, p {5}.",
     "{0} 与 {1} 未分高下：在 {3} 上 {6} 相差 {2}，种子数 {4}，p {5}。"},
    {"{0} is better than {1}: {2} nats of validation loss, seeds: {4}, p {5}.",
     "{0} 优于 {1}：验证损失相差 {2} nat，种子数 {4}，p {5}。"},
    {"{0} is worse than {1}: {2} nats of validation loss, seeds: {4}, p {5}.",
     "{0} 不如 {1}：验证损失相差 {2} nat，种子数 {4}，p {5}。"},
    {"{0} against {1} is undecided: {2} nats of validation loss, seeds: {4}, p {5}.",
     "{0} 与 {1} 未分高下：验证损失相差 {2} nat，种子数 {4}，p {5}。"},
    {"The study has one row, so nothing is compared.", "本研究只有一行，没有可比较的对象。"},
    {"Not compared by loss, for want of a validation text or of one vocabulary: {0}.",
     "未按损失比较，因为没有验证文本，或者词表不同：{0}。"},
    {"Nothing is compared yet: the baseline {0} and another row must be done; --baseline names another one.",
     "尚无比较：需要先完成基线 {0} 和另外一行；--baseline 可指定别的基线。"},
    {"Not shown, for they were done with other options or tests: {0}. Give the options back, or run these rows again; "
     "where a stage has changed, remove the folder of the run first.",
     "未显示，因为它们是用其他选项或测试完成的：{0}。"
     "请恢复原来的选项，或重新运行这些行；若某个阶段已改变，请先删除该次运行的文件夹。"},
    {"p is of Student's t, of the difference and its standard error: by sentences (paired bootstrap) and by the spread "
     "over the seeds of all rows. It is adjusted for the number of rows (Holm 1979). "
     "A row is better or worse if p is at most 0.05.",
     "p 来自 Student t：差值除以其标准误，标准误由句子（配对自助法）和所有行的种子间方差合成，"
     "并按行数校正（Holm 1979）。仅当 p 不超过 0.05 时，才判定一行更好或更差。"},
    {"p is of Student's t, of the difference and its standard error by the spread over the seeds of all rows, adjusted "
     "for the number of rows (Holm 1979). A row is better or worse if p is at most 0.05.",
     "p 来自 Student t：差值除以其标准误，标准误取自所有行的种子间方差，并按行数校正（Holm 1979）。仅当 p 不超过 0.05 "
     "时，才判定一行更好或更差。"},
    {"Differences are over the seeds that both rows have.", "差值取自两行共有的种子。"},
    {"Some comparisons rest on one seed: another seed may say something else.",
     "有些比较只有一个种子：换一个种子，结论可能不同。"},
    {"Search “{0}”: mean ± standard deviation over the seeds", "搜索“{0}”：各种子的均值 ± 标准差"},
    {"Mean ± standard deviation over the seeds", "各种子的均值 ± 标准差"},
    {"Against {0}", "与 {0} 比较"},
    {"Trainings: means over the seeds, of the last stage where nothing else is said; updates a second and minutes an "
     "epoch are of all its time, with validations and saving",
     "训练：各种子的均值；未另说明的指最后一个阶段；每秒更新数和每轮分钟数按其全部时间计算，包括验证和保存"},
    {"What differs between the rows: recipe.json and config.json of the last training, first seed",
     "各行的不同之处：第一个种子最后一次训练的 recipe.json 和 config.json"},
    {"-: the files of the row do not name the option. It does not belong to its model, or has its default.",
     "-：该行的文件中没有这个选项。它不属于该行的模型，或取默认值。"},
    {"option", "选项"},
    {"What it ran on", "运行环境"},
    {"Program and processor are those of the run that wrote this report. Trainings may have had others.",
     "程序和处理器属于写出本报告的那次运行，各次训练可能用过别的。"},
    {"program", "程序"},
    {"all cores", "全部核心"},
    {"date of the report", "报告日期"},
    {"hours of all trainings", "所有训练的小时数"},
    {"{0} by the words of a source sentence, {1}", "按源句词数的 {0}，{1}"},
    {"{0} words, sentences: {1}", "{0} 词，句数：{1}"},
    {"Perplexity of {0}: mean ± standard deviation over the seeds", "{0} 的困惑度：各种子的均值 ± 标准差"},
    {"Going through the test sets, loading the model included: mean over the seeds",
     "处理测试集（含加载模型）：各种子的均值"},
    {"sentences a second", "每秒句数"},
    {"sentences a second, search “{0}”", "每秒句数，搜索“{0}”"},
    {"What was run", "运行内容"},
    {"Validation, a line for each seed of the row and of the baseline: {0}. The number at the end of the lines is the "
     "mean of their last values.",
     "验证结果，该行和基线的每个种子各一条线：{0}。线末的数字是最后值的均值。"},
    {"On the validation text, by the minutes of the last training: {0}",
     "验证文本上的结果，按最后一次训练的分钟数：{0}"},
    {"{0} is as good in validation as {1} at its best, {2} {3}, after {4} minutes, {1} after {5}.",
     "{0} 在 {4} 分钟后达到 {1} 的最好验证结果（{2} {3}），{1} 自己用了 {5} 分钟。"},
    {"{0} is as good in validation as {1} at its best, {2} {3}, in {4} of {5} seeds.",
     "{0} 的 {5} 个种子中有 {4} 个达到 {1} 的最好验证结果（{2} {3}）。"},
    {"{0} is in none of its seeds as good in validation as {1} at its best, {2} {3}.",
     "{0} 没有一个种子达到 {1} 的最好验证结果（{2} {3}）。"},
    {"Searches that were tuned on the validation text", "在验证文本上调整过的搜索"},
    {"A search that names one of these options keeps its own value.", "搜索若写明其中某个选项，则以它写明的值为准。"},
    {"beam size", "束宽"},
    {"length penalty", "长度惩罚"},
    {"n/a: the training of a seed ended before, had no validation yet, or did not reach the value.",
     "n/a：某个种子的训练在此之前已结束、尚无验证结果，或没有达到该值。"},
    {"after {0} minutes", "{0} 分钟后"},
    {"minutes to {0}, which each seed of {1} reaches", "达到 {0}（{1} 的每个种子都达到）所需分钟数"},
    {"updates a second", "每秒更新数"},
    {"minutes an epoch", "每轮分钟数"},
    {"about the row", "说明"},
    {"row", "行"},
    {"changes", "改动"},
    {"seeds", "种子数"},
    {"measured on", "测量文本"},
    {"difference", "差值"},
    {"standard error", "标准误"},
    {"p, adjusted", "校正后的 p"},
    {"verdict", "判断"},
    {"better", "更好"},
    {"worse", "更差"},
    {"undecided", "未定"},
    {"the paper's difference", "论文中的差值"},
    {"with the paper", "与论文"},
    {"agrees", "一致"},
    {"opposite", "相反"},
    {"updates", "更新次数"},
    {"epochs", "轮次"},
    {"validation loss", "验证损失"},
    {"lowest validation loss", "最低验证损失"},
    {"minutes", "分钟"},
    {"minutes, all stages", "分钟（所有阶段）"},
    {"fact", "项目"},
    {"value", "值"},
    {"options of all trainings", "所有训练的选项"},
    {"seeds of the study", "本研究的种子"},
    {"stage {0}", "阶段 {0}"},
    {"text {0}", "文本 {0}"},
    {"model {0}", "模型 {0}"},
    {"test {0}", "测试 {0}"},
    {"lowercase", "转为小写"},
    {"search {0}", "搜索 {0}"},
    {"perplexity {0}", "困惑度 {0}"},
    // The attention page.
    {"translation", "译文"},
    {"prompt", "开头"},
    {"continuation", "续写"},
    {"Where “{0}” looks", "“{0}”在看哪里"},
    {"Encoder layer {0}: a column is a head, the arcs are the mean of the heads",
     "编码器第 {0} 层：每列是一个头，弧线是各头的平均"},
    {"It looks most at “{0}”: {1}, layer {2}, head {3}. That head is the one shown below.",
     "它最关注“{0}”：{1}，第 {2} 层第 {3} 头。下面显示的就是这个头。"},
    {"encoder layer {0}, attention from '{1}'", "编码器第 {0} 层，“{1}”的注意力"},
    {"head", "头"},
    {"head {0}", "第 {0} 头"},
    {"layer {0}", "第 {0} 层"},
    {"mean", "平均"},
    {"mean of heads", "各头的平均"},
    {"layer {0}, head {1}", "第 {0} 层第 {1} 头"},
    {"layer {0}, mean of heads", "第 {0} 层各头的平均"},
    {"{0}, {1}", "{0}，{1}"},
    {"This page draws its attention maps with a script inside it; please allow scripts for this file.",
     "本页用内嵌脚本绘制注意力图；请允许此文件运行脚本。"},
    {"Kind of attention", "注意力的种类"},
    {"All layers and heads", "所有层和头"},
    {"The chosen head", "选中的头"},
    {"Heat map", "热图"},
    {"Heat map. Arrow keys move from cell to cell; the weight is read out above.",
     "热图。方向键在格子间移动，权重在上方读出。"},
    {"Who looks at whom", "谁在看谁"},
    {"Point at a token, or move to it with the Tab key; a click keeps it.",
     "把指针移到一个词元上，或用 Tab 键移到它；单击则保持。"},
    {"tokens that look", "正在看的词元"},
    {"tokens looked at", "被看的词元"},
    {"{0} looks at {1}", "{0} 关注 {1}"},
    {"{0} is looked at by {1}", "关注 {0} 的有 {1}"},
    {"There are no attention weights in this page.", "本页没有注意力权重。"},
    {"Encoder self-attention", "编码器自注意力"},
    {"Each source token looks at all source tokens.", "每个源词元看所有源词元。"},
    {"Cross-attention", "交叉注意力"},
    {"Each target token, as it is predicted, looks at the source tokens.", "每个目标词元在被预测时看源词元。"},
    {"Decoder self-attention", "解码器自注意力"},
    {"Each token that the decoder has read looks at itself and those before it.",
     "解码器读过的每个词元看自己和前面的词元。"},
};

std::string filled(std::string_view pattern, const std::vector<std::string>& values) {
  fmt::dynamic_format_arg_store<fmt::format_context> arguments;
  for (const std::string& value : values) {
    arguments.push_back(value);
  }
  return values.empty() ? std::string(pattern) : fmt::vformat(pattern, arguments);
}

}  // namespace

std::string_view text_in(PageLanguage language, std::string_view english) {
  const auto* found = std::ranges::find(kTexts, english, &PageText::english);
  const bool is_other = language == PageLanguage::kChinese && found != std::ranges::end(kTexts);
  return is_other ? found->chinese : english;
}

std::string text_in(PageLanguage language, std::string_view english, const std::vector<std::string>& values) {
  return filled(text_in(language, english), values);
}

std::string said(std::string_view english, const std::vector<std::string>& values) {
  const std::string first = escape_html(filled(english, values));
  if (text_in(PageLanguage::kChinese, english) == english) {
    return first;
  }
  return fmt::format(R"(<span class="en" lang="en">{}</span><span class="zh" lang="zh-Hans">{}</span>)", first,
                     escape_html(text_in(PageLanguage::kChinese, english, values)));
}

std::string both(std::string_view english, const std::vector<std::string>& values) {
  const bool is_one = text_in(PageLanguage::kChinese, english) == english;
  return filled(english, values) + (is_one ? "" : " / " + text_in(PageLanguage::kChinese, english, values));
}

std::string_view language_switch() {
  return R"html(<input type="radio" class="speak" name="language" id="speak-en" checked="checked"/><label for="speak-en" lang="en">English</label>
<input type="radio" class="speak" name="language" id="speak-zh"/><label for="speak-zh" lang="zh-Hans">中文</label>
)html";
}

std::string_view language_style() {
  return R"css(
#speak-en:checked ~ main .zh, #speak-zh:checked ~ main .en { display: none; }
.speak { position: absolute; width: 1px; height: 1px; opacity: 0; }
.speak + label { display: inline-block; margin: 0.8rem 0 0 0.6rem; padding: 0.2rem 0.8rem; border: 1px solid transparent;
  border-radius: 99px; color: var(--soft); font-size: 0.9rem; cursor: pointer; }
.speak:first-of-type + label { margin-left: 1.5rem; }
.speak:checked + label { color: var(--ink); border-color: var(--line); }
.speak:focus-visible + label { outline: 2px solid var(--c0); outline-offset: 2px; }
@media print { .speak, .speak + label { display: none; } }
)css";
}

std::string chinese_texts() {
  nlohmann::json texts = nlohmann::json::object();
  for (const PageText& text : kTexts) {
    texts[std::string(text.english)] = text.chinese;
  }
  return base::dump_json(texts);
}

}  // namespace dragoman::report
