//! The names and texts of which runs are made. Names are drawn such that the second is half as frequent as the first, the
//! third a third, and so on.

use fastrand::Rng;
use registry::AgentId;

pub const HOSTS: usize = 60;
pub const SECRETS: usize = 25;
pub const USERS: usize = 400;
pub const AGENTS: usize = 80;
pub const CLIENTS: [&str; 4] = ["claude-code 2.1", "cursor 1.9", "vscode 1.112", "inspector 0.17"];
pub const NATIVE_TOOLS: [&str; 3] = ["search_tools", "execute", "remember"];
pub const WORDS: usize = 20_000;
pub const REFUSALS: [&str; 4] = ["denied", "budget", "private_address", "response_too_large"];
pub const EXCEPTIONS: [&str; 4] = ["ValueError", "TimeoutError", "KeyError", "ConnectionError"];

const SYLLABLES: [&str; 20] = [
    "ba", "den", "ki", "lor", "ma", "nes", "po", "ra", "sil", "to", "ver", "wun", "xi", "yar", "zo", "che", "fu",
    "gam", "hal", "je",
];
const CITIES: [&str; 8] = ["東京", "京都", "大阪", "北京", "上海", "台北", "札幌", "横浜"];
const PHRASES: [&str; 6] = [
    "の注文を確認しました",
    "の配送が遅れています",
    "的订单已经发货",
    "の在庫がありません",
    "的客户要求退款",
    "の天気は晴れです",
];

/// Returns a number below a bound; small numbers are frequent.
pub fn skewed(rng: &mut Rng, bound: usize) -> usize {
    let rank = ((bound as f64).ln() * rng.f64()).exp() as usize;
    rank.saturating_sub(1).min(bound - 1)
}

/// Returns the word of a rank.
pub fn word(rank: usize) -> String {
    let (mut rest, mut word) = (rank + SYLLABLES.len(), String::new());
    while rest > 0 {
        word.push_str(SYLLABLES[rest % SYLLABLES.len()]);
        rest /= SYLLABLES.len();
    }
    word
}

/// Returns some words with spaces between them.
pub fn sentence(rng: &mut Rng, words: std::ops::Range<usize>) -> String {
    let words: Vec<_> = (0..rng.usize(words)).map(|_| word(skewed(rng, WORDS))).collect();
    words.join(" ")
}

/// Returns a sentence in Japanese or Chinese.
pub fn cjk(rng: &mut Rng) -> String {
    format!("{}{}", city(skewed(rng, CITIES.len())), PHRASES[rng.usize(..PHRASES.len())])
}

pub fn city(rank: usize) -> &'static str {
    CITIES[rank % CITIES.len()]
}

pub fn host(rank: usize) -> String {
    format!("{}.example.com", word(rank))
}

pub fn secret(rank: usize) -> String {
    format!("{}_TOKEN", word(rank).to_uppercase())
}

pub fn agent(rank: usize) -> AgentId {
    AgentId::parse(&format!("{:024x}", rank + 0xa000)).expect("an id")
}

pub fn user(rank: usize) -> String {
    format!("{}@example.com", word(rank))
}
