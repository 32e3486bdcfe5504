using Craq.Storage;

namespace Craq.Chains;

/// <summary>A read whose versions are chosen and whose values are not all in memory.</summary>
internal sealed class ReadPlan(ChainId chain, ReplyTo to, ReadObjectsResponse response, ObjectResult[] results)
{
    public ChainId Chain => chain;

    public ReplyTo To => to;

    public ReadObjectsResponse Response { get; private set; } = response;

    public ObjectResult[] Results { get; } = results;

    /// <summary>Objects that are loaded outside the lock.</summary>
    public List<MissingObject> Missing { get; } = [];

    /// <summary>The answer has the results before it.</summary>
    public int End { get; private set; } = results.Length;

    public void EndBefore(int index) => End = Math.Min(End, index);

    /// <summary>An object is chosen anew, as of a later mark: the session's next token covers it (C18).</summary>
    public void RaiseMark(ObjectVersion mark) =>
        Response = Response with { Mark = ObjectVersion.Max(Response.Mark, mark) };

    /// <summary>The same plan with fewer results.</summary>
    public ReadPlan Shortened(ObjectResult[] fewer)
    {
        var plan = new ReadPlan(chain, to, Response, fewer) { Bytes = Bytes };
        plan.Missing.AddRange(Missing);
        return plan;
    }

    /// <summary>Bytes of the values that are in the answer, and of those to load.</summary>
    public long Bytes { get; set; }
}

/// <param name="Index">In the answer.</param>
/// <param name="Slot">Null: the slot itself is not in memory.</param>
internal readonly record struct MissingObject(int Index, ObjectKey Key, ObjectSlot? Slot, bool WithValue);
