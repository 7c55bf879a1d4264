//! What is reserved, settled and told of every call, against the bill of a server that was written without the client: a
//! thousand conversations over each wire that nobody wrote.

use ambit_agent_models::{CallFailure, Charge, Client, Model, ModelReply, Usage};
use ambit_ids::MicroUsd;
use ambit_model_server::{BillEntry, ModelServer, RandomPlan, Script};
use ambit_ports::AbortHandle;
use ambit_run::{Amounts, Ledger};
use tokio::task::JoinSet;

use crate::haggling::{Chance, Deal, Talk, faults};

const SHARDS: u64 = 40;
const CONVERSATIONS: u64 = 25;

/// What the conversations of a wire came to.
#[derive(Debug, Default)]
struct Tally {
    conversations: u64,
    calls: u64,
    requests: u64,
    /// Calls of which nobody could tell what they cost.
    unsettled: u64,
    /// Conversations in which there was no such call.
    exact: u64,
    out_of_money: u64,
    out_of_tokens: u64,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.conversations += other.conversations;
        self.calls += other.calls;
        self.requests += other.requests;
        self.unsettled += other.unsettled;
        self.exact += other.exact;
        self.out_of_money += other.out_of_money;
        self.out_of_tokens += other.out_of_tokens;
    }
}

/// One conversation, with the money of one run.
struct Conversation<'a> {
    server: &'a ModelServer,
    client: Client,
    quote: MicroUsd,
    ledger: Ledger,
    /// Entries of the bill that were there before the conversation.
    before: usize,
    /// Entries that were there before the last call.
    known: usize,
    told_micro_dollars: u64,
    unsettled: u64,
}

impl Conversation<'_> {
    fn cap(&self) -> u64 {
        self.ledger.limits().tool_cost.get()
    }

    fn used(&self) -> u64 {
        self.ledger.spent().cost.get() + self.ledger.reserved().cost.get()
    }

    fn entries(&self) -> Vec<BillEntry> {
        self.server.bill().entries.split_off(self.before)
    }

    /// What the call is said to have cost; `None` where nobody can tell.
    fn told(&self, outcome: &Result<ModelReply, CallFailure>) -> Option<MicroUsd> {
        match outcome {
            Ok(reply) => self.client.cost(&reply.usage),
            Err(CallFailure { charge: Charge::Settled(usage), .. }) => self.client.cost(usage),
            Err(CallFailure { charge: Charge::Nothing, .. }) => Some(MicroUsd::ZERO),
            Err(CallFailure { charge: Charge::Unsettled, .. }) => None,
        }
    }

    /// One call, from its reservation to its settlement. `None` where the ledger has no room for it.
    async fn call(&mut self, talk: &Talk) -> Option<Result<ModelReply, CallFailure>> {
        let reservation = Amounts::turn(self.quote);
        self.ledger.check(&reservation).ok()?;
        self.ledger = self.ledger.clone().reserve(&reservation);
        assert!(self.used() <= self.cap());
        let (_handle, signal) = AbortHandle::new();
        let outcome = self.client.complete(talk.request(), signal).await;
        let told = self.told(&outcome);
        let settled = told.unwrap_or(self.quote);
        self.ledger = self.ledger.clone().settle(&reservation, &Amounts::turn(settled));
        self.told_micro_dollars += settled.get();
        self.unsettled += u64::from(told.is_none());
        let entries = self.entries();
        self.hold(&entries, &outcome, told, talk.dearest(&self.client));
        self.known = entries.len();
        Some(outcome)
    }

    /// What must be so after every call, after which `entries` are the bill.
    fn hold(
        &self,
        entries: &[BillEntry],
        outcome: &Result<ModelReply, CallFailure>,
        told: Option<MicroUsd>,
        dearest: MicroUsd,
    ) {
        let new = &entries[self.known..];
        let name = || format!("{outcome:?} {new:?}");
        let cost = |entries: &[BillEntry]| entries.iter().map(|entry| entry.cost_micro_dollars).sum::<u128>();
        let (billed, all) = (cost(new), cost(entries));
        let spent = self.ledger.spent().cost.get();
        assert!(billed <= dearest.get().into() && dearest <= self.quote, "{}", name());
        if let Some(told) = told {
            assert_eq!(u128::from(told.get()), billed, "{}", name());
        }
        if let Ok(reply) = outcome {
            let charged: Vec<Usage> = new.iter().filter(|entry| entry.charged).map(counted).collect();
            assert_eq!(charged, [reply.usage], "{}", name());
        }
        assert!(told.is_some() || !new.iter().any(|entry| entry.charged && entry.told), "{}", name());
        assert!(self.used() <= self.cap() && self.ledger.overdrawn().is_none(), "{}", name());
        assert!(u128::from(spent) >= all && all <= self.cap().into(), "{}", name());
        assert!(self.unsettled > 0 || u128::from(spent) == all, "{}", name());
        assert_eq!(self.told_micro_dollars, spent, "{}", name());
        assert_eq!(self.ledger.reserved().cost, MicroUsd::ZERO, "{}", name());
        if let Some(cap) = self.client.document().token_cap() {
            let tokens: u64 =
                entries.iter().map(|entry| entry.usage.whole_input() + entry.usage.output).sum();
            assert!(tokens <= cap, "{tokens} of {cap} tokens: {}", name());
        }
    }
}

fn counted(entry: &BillEntry) -> Usage {
    Usage {
        input_tokens: entry.usage.input,
        cache_read_tokens: entry.usage.cache_read,
        cache_write_tokens: entry.usage.cache_write,
        output_tokens: entry.usage.output,
        reasoning_tokens: entry.usage.reasoning,
    }
}

async fn converse(server: &ModelServer, deal: &Deal, chance: &mut Chance) -> Tally {
    let mut talk = Talk::beginning(chance);
    let client = deal.client(server, &talk, chance);
    let quote = client.call_quote();
    let (ledger, before) = (deal.ledger(quote, chance), server.bill().entries.len());
    let mut run =
        Conversation { server, client, quote, ledger, before, known: 0, told_micro_dollars: 0, unsettled: 0 };
    let mut tally = Tally { conversations: 1, ..Tally::default() };
    for _ in 0..2 + chance.below(5) {
        match run.call(&talk).await {
            None => {
                tally.out_of_money += 1;
                break;
            }
            Some(Err(failure)) if failure.code == "MODEL_TOKEN_CAP" => {
                tally.out_of_tokens += 1;
                break;
            }
            Some(Err(failure)) => {
                assert!(!failure.code.ends_with("REFUSED") && !failure.code.contains("REQUEST"), "{failure}");
            }
            Some(Ok(reply)) => talk.go_on(reply, chance),
        }
        tally.calls += 1;
    }
    tally.requests = run.entries().len() as u64;
    tally.unsettled = run.unsettled;
    tally.exact = u64::from(run.unsettled == 0);
    tally
}

async fn shard(wire: &'static str, number: u64) -> Tally {
    let mut chance = Chance::of(number);
    let deal = Deal::made(wire, number, &mut chance);
    let plan = RandomPlan {
        seed: number,
        fault_percent: if number.is_multiple_of(4) { 0 } else { 15 },
        faults: faults(),
        ..RandomPlan::default()
    };
    let server = ModelServer::builder(Script::random(plan)).price(deal.price).start().unwrap();
    let mut tally = Tally::default();
    for _ in 0..CONVERSATIONS {
        tally.add(&converse(&server, &deal, &mut chance).await);
    }
    assert_eq!(server.problems(), Vec::<String>::new());
    tally
}

async fn converse_a_thousand_times(wire: &'static str) {
    let (mut shards, mut tally) = (JoinSet::new(), Tally::default());
    for number in 0..SHARDS {
        if shards.len() == 8 {
            tally.add(&shards.join_next().await.unwrap().unwrap());
        }
        shards.spawn(shard(wire, number));
    }
    for done in shards.join_all().await {
        tally.add(&done);
    }
    println!("{wire}: {tally:?}");
    assert_eq!(tally.conversations, SHARDS * CONVERSATIONS);
    assert!(tally.exact > 500 && tally.unsettled > 100, "{tally:?}");
    assert!(tally.calls > 2_000 && tally.requests > tally.calls, "{tally:?}");
    assert!(tally.out_of_money > 50 && tally.out_of_tokens > 50, "{tally:?}");
}

// proves D12
// break crates/adapters/agent-models/src/price.rs: `sum.div_ceil(MILLION)` -> `(sum / MILLION)`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_agrees_over_anthropic_messages() {
    converse_a_thousand_times("anthropic-messages").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_agrees_over_openai_responses() {
    converse_a_thousand_times("openai-responses").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_agrees_over_openai_chat() {
    converse_a_thousand_times("openai-chat").await;
}
