namespace Salus.Region.Recovery;

/// <summary>A region's log as one member can show it: all of it durable in the own store, and in the body.</summary>
/// <param name="Proof">The highest that was found.</param>
/// <param name="StoresRead">Stores of the anchor that were read.</param>
internal sealed record RegionPrefix(LogReplay Replay, CommitProof? Proof, int StoresRead)
{
    public long LastIndex => Replay.Index;

    public Hash128 Chain => Replay.Chain;

    /// <summary>The same at all members: it follows from the log and from what Tango shows since the generation
    /// began.</summary>
    public Opening Opening => new(Replay.Run, Replay.Last);

    /// <summary>The record that opens the generation behind the prefix.</summary>
    public RecordHead HeadOf(RegionKey region, Epoch generation) => new(RegionRecordKind.Open, region, generation,
        LastIndex + 1, Chain, Hash128.Of(Opening.Encode()));
}
