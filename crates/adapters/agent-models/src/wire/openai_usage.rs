use serde_json::Value;

use crate::dialogue::Usage;
use crate::wire::fault::Fault;
use crate::wire::json;

/// How one of OpenAI's wires names its counts.
pub(crate) struct Names {
    pub(crate) input: &'static str,
    pub(crate) input_details: &'static str,
    pub(crate) output: &'static str,
    pub(crate) output_details: &'static str,
}

/// Each token once. The input includes what was read from and written to a cache. The output includes reasoning, except
/// at servers whose total shows that it does not.
pub(crate) fn read(usage: &Value, names: &Names) -> Result<Usage, Fault> {
    let count = |name| json::tokens(usage, name);
    let detail = |group: &str, name| json::tokens(usage.get(group).unwrap_or(&Value::Null), name);
    let input = count(names.input)?.ok_or_else(|| Fault::usage("the input is not counted"))?;
    let output = count(names.output)?.ok_or_else(|| Fault::usage("the output is not counted"))?;
    let cache_read = detail(names.input_details, "cached_tokens")?.unwrap_or_default();
    let cache_write = detail(names.input_details, "cache_write_tokens")?.unwrap_or_default();
    let reasoning = detail(names.output_details, "reasoning_tokens")?.unwrap_or_default();
    let apart = count("total_tokens")?.is_some_and(|total| total == input + output + reasoning);
    let fresh = input
        .checked_sub(cache_read + cache_write)
        .ok_or_else(|| Fault::usage("more input came from a cache than there was"))?;
    Ok(Usage {
        input_tokens: fresh,
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        output_tokens: if apart { output + reasoning } else { output },
        reasoning_tokens: reasoning,
    })
}
