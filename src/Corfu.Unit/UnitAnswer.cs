using Corfu.Protocol;

namespace Corfu.Unit;

/// <summary>
/// What the core says to one request. R4: nobody may see it before the store is durable up to <see cref="Lsn"/>, be it
/// an acknowledgement, a refusal or a state.
/// </summary>
/// <param name="Response">Complete, unless <paramref name="Plan"/> is there.</param>
/// <param name="Plan">Page bytes to fetch, outside the core, before a read can be answered.</param>
internal readonly record struct UnitAnswer(long Lsn, Response? Response, ReadPlan? Plan = null);
