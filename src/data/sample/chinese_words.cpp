#include "data/sample/chinese_words.h"

namespace dragoman::data::sample {

const std::string_view kChineseNounTable = R"(
animal 只 动物
dog 条 狗
cat 只 猫
horse 匹 马
wolf 匹 狼
cow 头 奶牛
sheep 只 绵羊
fox 只 狐狸
goat 只 山羊
pig 头 猪
bear 头 熊
mouse 只 老鼠
chicken 只 鸡
lion 头 狮子
rat 只 大鼠
calf 头 小牛
monkey 只 猴子
goose 只 鹅
lamb 只 羊羔
elephant 头 大象
duck 只 鸭子
foal 匹 马驹
hare 只 野兔
snake 条 蛇
pony 匹 矮马
donkey 头 驴
turtle 只 乌龟
camel 头 骆驼
badger 只 獾
hyena 只 鬣狗
zebra 匹 斑马
hedgehog 只 刺猬
giraffe 头 长颈鹿
rabbit 只 兔子
ox 头 公牛
gazelle 只 瞪羚
crocodile 条 鳄鱼
stag 头 雄鹿
antelope 只 羚羊
hippo 头 河马
rooster 只 公鸡
lizard 条 蜥蜴
deer 头 狍子
frog 只 青蛙
toad 只 蟾蜍
squirrel 只 松鼠
tiger 只 老虎
llama 头 羊驼
beaver 只 河狸
otter 只 水獭
piglet 头 猪崽
leopard 只 豹子
seal 只 海豹
kangaroo 只 袋鼠
hamster 只 仓鼠
reindeer 头 驯鹿
swan 只 天鹅
crow 只 乌鸦
mule 头 骡子
street 条 街道
path 条 小路
field 块 田地
bridge 座 桥
square 个 广场
track 条 轨道
alley 条 巷子
trail 条 小径
riverbed 段 河床
highway 条 高速公路
courtyard 个 院子
runway 条 跑道
intersection 个 路口
footbridge 座 步行桥
valley 个 山谷
meadow 片 草地
market 个 市场
avenue 条 林荫道
river 条 河
bay 个 海湾
sea 片 海
stream 条 小溪
lagoon 个 潟湖
pool 个 水池
canal 条 运河
estuary 个 河口
delta 片 三角洲
lake 个 湖
pond 个 池塘
harbour 个 港口
suitcase 个 手提箱
box 个 箱子
barrel 个 木桶
basket 个 篮子
bag 个 袋子
compartment 个 隔间
sack 个 麻袋
drawer 个 抽屉
parcel 个 包裹
bucket 个 水桶
chest 个 大木箱
net 张 网
backpack 个 背包
tin 个 罐头盒
case 个 盒子
carton 个 纸箱
bowl 个 碗
cupboard 个 橱柜
trophy 个 奖杯
guitar 把 吉他
book 本 书
mirror 面 镜子
lamp 盏 灯
picture 幅 画
umbrella 把 雨伞
clock 个 时钟
toy 个 玩具
hat 顶 帽子
vase 个 花瓶
cushion 个 靠垫
ball 个 球
doll 个 娃娃
radio 台 收音机
carpet 块 地毯
statue 座 雕像
instrument 件 乐器
helmet 顶 头盔
trumpet 支 小号
telescope 架 望远镜
coat 件 大衣
blanket 条 毯子
dress 条 连衣裙
globe 个 地球仪
camera 台 照相机
piano 架 钢琴
candlestick 个 烛台
drum 面 鼓
microscope 台 显微镜
typewriter 台 打字机
violin 把 小提琴
stone 块 石头
pan 口 平底锅
weight 个 砝码
hammer 把 锤子
iron 个 熨斗
brick 块 砖头
axe 把 斧头
anvil 块 铁砧
plate 个 盘子
cup 个 杯子
glass 个 玻璃杯
jug 个 壶
pane 块 窗玻璃
window 扇 窗户
screen 块 屏幕
tile 块 瓷砖
aquarium 个 鱼缸
bulb 个 灯泡
thermometer 支 温度计
bus 辆 公共汽车
carriage 辆 马车
car 辆 汽车
truck 辆 卡车
tram 辆 电车
boat 条 小船
train 列 火车
locomotive 台 机车
taxi 辆 出租车
tractor 台 拖拉机
ferry 艘 渡轮
ship 艘 轮船
ambulance 辆 救护车
plane 架 飞机
cart 辆 手推车
wheelbarrow 辆 独轮车
sledge 副 雪橇
plough 架 犁
raft 个 木筏
apple 个 苹果
pear 个 梨
radish 个 萝卜
peach 个 桃子
cherry 颗 樱桃
vegetable 棵 蔬菜
pumpkin 个 南瓜
banana 根 香蕉
fruit 个 水果
cabbage 棵 卷心菜
plum 个 李子
grain 粒 谷物
tomato 个 西红柿
melon 个 甜瓜
strawberry 颗 草莓
fish 条 鱼
sausage 根 香肠
bread 块 面包
cake 块 蛋糕
soup 碗 汤
egg 个 鸡蛋
cheese 块 奶酪
potato 个 土豆
meat 块 肉
pudding 份 布丁
carrot 根 胡萝卜
steak 块 牛排
ham 块 火腿
pie 个 馅饼
roll 个 小圆面包
salad 份 沙拉
cucumber 根 黄瓜
dagger 把 匕首
saw 把 锯子
knife 把 刀
chisel 把 凿子
sickle 把 镰刀
sword 把 剑
spade 把 铁锹
blade 片 刀片
hatchet 把 短斧
machete 把 砍刀
scalpel 把 手术刀
stable 个 马厩
barn 个 谷仓
house 座 房子
garden 个 花园
cave 个 山洞
tent 顶 帐篷
cellar 个 地窖
garage 个 车库
room 个 房间
shed 个 棚子
hut 座 小屋
castle 座 城堡
park 个 公园
kitchen 个 厨房
theatre 座 剧院
tunnel 条 隧道
church 座 教堂
museum 座 博物馆
forest 片 森林
school 所 学校
cage 个 笼子
hotel 家 旅馆
tree 棵 树
wall 堵 墙
roof 个 屋顶
hill 座 小山
ladder 架 梯子
monument 座 纪念碑
tower 座 塔
dune 座 沙丘
gate 扇 大门
fence 道 栅栏
oak 棵 橡树
scaffold 个 脚手架
rock 块 岩石
palm 棵 棕榈树
mountain 座 高山
table 张 桌子
bench 条 长凳
shelf 个 架子
chair 把 椅子
dresser 个 梳妆台
sofa 张 沙发
stool 个 凳子
counter 个 柜台
platform 个 台子
desk 张 书桌
windowsill 个 窗台
farmer 位 农夫
woman 位 女士
girl 位 姑娘
cook 位 厨师
aunt 位 姑妈
man 位 男士
grandmother 位 奶奶
boy 位 男孩
uncle 位 叔叔
queen 位 王后
gardener 位 园丁
daughter 位 女儿
)";

const std::string_view kChinesePredicateTable = R"(
tired 累
hungry 饿
thirsty 渴
frightened 害怕
weak 虚弱
sick 难受
sleepy 困
exhausted 疲惫
nervous 紧张
lazy 懒
shy 害羞
greedy 贪吃
cautious 谨慎
injured 受了伤 !
wide 宽
busy 繁忙
icy 结了冰 !
muddy 泥泞
slippery 滑
snowy 积了雪 !
bumpy 颠簸
flooded 被淹了 !
closed 被封了 !
deep 深
stormy 汹涌
polluted 被污染了 !
murky 浑浊
frozen 冻住了 !
large 大
bulky 笨重
long 长
thick 厚
small 小
narrow 窄
full 满
shallow 浅
heavy 重
hard 硬
thin 薄
fragile 易碎
delicate 脆弱
ripe 熟
sweet 甜
juicy 多汁
fresh 新鲜
tasty 好吃
salty 咸
sour 酸
bitter 苦
mouldy 发了霉 !
hot 烫
tough 韧
blunt 钝
rusty 生了锈 !
cosy 舒适
empty 空
shady 阴凉
heated 有暖气 !
spacious 宽敞
draughty 透风
damp 潮湿
cramped 拥挤
smoky 呛人
high 高
steep 陡
smooth 光滑
rickety 不稳
low 矮
loaded 装满了货 !
)";

const std::string_view kChineseAttributeTable = R"(
old 旧的
old@animal 老
old@draught_animal 老
old@person 年老的
old@road 古老的
old@place 古老的
old@climbable 古老的
young 年幼的
young@person 年轻的
brown 棕色的
black 黑色的
white 白色的
grey 灰色的
wild 野生的
beautiful 美丽的
new 新的
red 红色的
blue 蓝色的
green 绿色的
yellow 黄色的
ugly 难看的
famous 有名的
strange 奇怪的
cheap 便宜的
expensive 昂贵的
)";

const std::string_view kChineseAdverbialTable = R"(
yesterday / 昨天
on Monday / 星期一
in the evening / 傍晚
today / 今天
last week / 上周
on Sunday / 星期日
in winter / 冬天
at noon / 中午
last year / 去年
on Friday / 星期五
after the storm / 暴风雨过后
in summer / 夏天
this morning / 今天早上
at night / 夜里
before sunrise / 日出之前
on Wednesday / 星期三
in autumn / 秋天
after the concert / 音乐会之后
last month / 上个月
during the holidays / 假期里
in spring / 春天
on Saturday / 星期六
)";

}  // namespace dragoman::data::sample
