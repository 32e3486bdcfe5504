using Craq.Relay;

namespace Craq.Tests.Relay;

public sealed class CandidatesTests
{
    private static readonly ChainId s_chain = ChainId.FromName("chain");

    /// <summary>C16.</summary>
    [Fact]
    public void Candidate_is_found_by_equal_heads_alone()
    {
        var candidates = new Candidates(new CandidatePool(1 << 20));
        var kept = Record(8, origin: 1, "value");
        candidates.Put(Version(8), kept);
        Assert.Same(kept, candidates.Find(Heads(Record(8, origin: 1, "value"))));
        Assert.Null(candidates.Find(Heads(Record(8, origin: 2, "value"))));
        Assert.Null(candidates.Find(Heads(Record(8, origin: 1, "valuf"))));
        Assert.Null(candidates.Find(Heads(Record(8, origin: 1, "values"))));
        Assert.Null(candidates.Find(Heads(Record(9, origin: 1, "value"))));
    }

    [Fact]
    public void Newer_candidate_of_a_version_replaces_the_older_one()
    {
        var pool = new CandidatePool(1 << 20);
        var candidates = new Candidates(pool);
        candidates.Put(Version(8), Record(8, origin: 1, "one"));
        var newer = Record(8, origin: 2, "two");
        candidates.Put(Version(8), newer);
        Assert.Equal(1, candidates.Count);
        Assert.Null(candidates.Find(Heads(Record(8, origin: 1, "one"))));
        Assert.Same(newer, candidates.Find(Heads(newer)));
    }

    [Fact]
    public void Oldest_candidates_of_all_chains_make_room()
    {
        var record = Record(8, origin: 1, new string('v', 1000));
        var pool = new CandidatePool((2 * record.Length) + 10);
        var (one, other) = (new Candidates(pool), new Candidates(pool));
        one.Put(Version(8), record);
        other.Put(Version(8), record);
        other.Put(Version(9), Record(9, origin: 1, new string('v', 1000)));
        Assert.Equal((0, 2), (one.Count, other.Count));
        // A removed candidate makes room again.
        other.Clear();
        one.Put(Version(8), record);
        one.Put(Version(9), Record(9, origin: 1, new string('v', 1000)));
        Assert.Equal((2, 0), (one.Count, other.Count));
    }

    [Fact]
    public void Record_above_the_limit_is_not_kept()
    {
        var candidates = new Candidates(new CandidatePool(100));
        candidates.Put(Version(8), Record(8, origin: 1, new string('v', 1000)));
        Assert.Equal(0, candidates.Count);
    }

    [Fact]
    public void Values_under_way_are_bounded()
    {
        var pool = new CandidatePool(100);
        Assert.True(pool.TrySend(60));
        Assert.False(pool.TrySend(60));
        pool.Sent(60);
        Assert.True(pool.TrySend(100));
    }

    private static ObjectVersion Version(int counter) => new((3L << 40) | (uint)counter);

    private static byte[] Record(int counter, int origin, string value) => RecordCodec.Encode(new ChainRecord(s_chain,
        ChainRecordKind.Write, Version(counter), Version(counter - 1),
        [new RecordOrigin(new WriteId(new Guid(origin, 0, 0, new byte[8]), 1), default)],
        [new ObjectWrite("x", 0, 0, System.Text.Encoding.UTF8.GetBytes(value))]));

    private static ReadOnlySpan<byte> Heads(byte[] record) => record.AsSpan(0, RecordCodec.HeadsLengthOf(record));
}
