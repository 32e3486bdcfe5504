using Corfu.Store.Index;
using Corfu.Store.Records;
using Corfu.Store.State;
using Tango.Formatting;

namespace Corfu.Store.Tests.Records;

/// <summary>Bytes of records and checkpoints: what is written comes back, and damage is told as such.</summary>
public sealed class CodecTests
{
    private static readonly ValuePlace s_place = new(70, ValuePlace.NoRecord, 2, 5000);

    private static readonly (int Mutator, StoreRecord Record)[] s_records =
    [
        (Mutators.Configure, new ConfigureRecord(new StoreSettings(16_384, 7, null))),
        (Mutators.Transact, new TransactRecord(
            [new StoredValue("abc"u8.ToArray(), null), new StoredValue(default, s_place)],
            [new Guard(StoreRange.Prefix("a"), 3, 9)],
            new Branches(
                [new Condition(true, default, default, default, 0),
                    new Condition(null, StoreRange.All, NumberOf.Lease, Relation.Less, -4)],
                [new PutStep("k", 0, null), new PutStep("l", null, 8), new DeleteStep(StoreRange.Of("m"))],
                [new GetStep(5), new GetStep(null),
                    new NestedStep(new Branches([], [new PutStep("n", 1, 0)], []))]))),
        (Mutators.Move, new MoveRecord(
            [new StoredValue(default, s_place)], [new ValueMove("k", 4, new ValuePlace(3, 1, 0, 3), 0)])),
        (Mutators.Compact, new CompactRecord(12)),
        (Mutators.Pin, new PinRecord("pin")),
        (Mutators.Unpin, new UnpinRecord("pin")),
        (Mutators.Revert, new RevertRecord(3)),
        (Mutators.Grant, new GrantRecord(null, 1000, 5)),
        (Mutators.Renew, new RenewRecord(3, 6)),
        (Mutators.EndLease, new EndLeaseRecord(3, 4)),
    ];

    [Fact]
    public void Records_come_back_as_written()
    {
        foreach (var (mutator, record) in s_records)
        {
            var bytes = RecordCodec.Write(record).WrittenMemory;
            Assert.Equal(bytes.ToArray(), RecordCodec.Write(RecordCodec.Read(mutator, bytes)).WrittenMemory.ToArray());
        }
    }

    [Fact]
    public void Damaged_records_are_told_as_such()
    {
        foreach (var (mutator, record) in s_records)
        {
            var bytes = RecordCodec.Write(record).WrittenMemory.ToArray();
            for (var length = 0; length < bytes.Length; length++)
                Assert.Throws<TangoFormatException>(() => RecordCodec.Read(mutator, bytes.AsMemory(0, length)));
            for (var at = 0; at < bytes.Length; at++)
            {
                foreach (byte wrong in (byte[])[0x00, 0xC1, 0xDD, 0xFF, 0x93])
                {
                    var damaged = bytes.ToArray();
                    damaged[at] = wrong;
                    try
                    {
                        RecordCodec.Read(mutator, damaged);
                    }
                    catch (TangoFormatException)
                    {
                        // Other values of the same form are no damage that is seen here.
                    }
                }
            }
        }
    }

    [Fact]
    public void Transaction_that_nests_without_end_is_refused()
    {
        var branches = new Branches([], [], []);
        for (var i = 0; i < 100; i++) branches = new Branches([], [new NestedStep(branches)], []);
        var bytes = RecordCodec.Write(new TransactRecord([], [], branches)).WrittenMemory;
        Assert.Throws<TangoFormatException>(() => RecordCodec.Read(Mutators.Transact, bytes));
    }

    [Fact]
    public void Numbers_that_no_writer_sends_are_refused()
    {
        foreach (var milliseconds in new[] { 0, -1, 9_000_000_000_001, long.MaxValue })
            Refused(Mutators.Grant, new GrantRecord(7, milliseconds, 0));
        Refused(Mutators.Transact, new TransactRecord([], [], new Branches([], [new PutStep("k", -1, 0)], [])));
        Refused(Mutators.Transact, new TransactRecord([], [], new Branches([], [new PutStep("k", 0, -1)], [])));

        static void Refused(int mutator, StoreRecord record) => Assert.Throws<TangoFormatException>(
            () => RecordCodec.Read(mutator, RecordCodec.Write(record).WrittenMemory));
    }

    [Fact]
    public void State_comes_back_from_a_checkpoint_and_damage_is_told_as_such()
    {
        var state = StoreState.New;
        var number = 0;
        Apply(new ConfigureRecord(new StoreSettings(100, null, 1 << 20)));
        Apply(new GrantRecord(5, 1000, 1));
        for (var i = 0; i < 3; i++)
        {
            Apply(new TransactRecord([new StoredValue("abc"u8.ToArray(), null)], [],
                new Branches([], [new PutStep("k", 0, 5), new PutStep($"l{i}", 0, 0)], [])));
        }

        Apply(new PinRecord("pin"));
        Apply(new TransactRecord([], [], new Branches([], [new DeleteStep("l1")], [])));
        var bytes = Save(state);
        var loaded = StatePages.Load(bytes);
        Assert.Equal(bytes, Save(loaded));
        Assert.Equal((state.Bytes, state.LowestPlace()), (loaded.Bytes, loaded.LowestPlace()));
        Assert.Equal(state.Leases[5].Keys, loaded.Leases[5].Keys);
        for (var length = 0; length < bytes.Length; length++)
            Assert.Throws<TangoFormatException>(() => StatePages.Load(bytes.AsMemory(0, length)));

        void Apply(StoreRecord record)
        {
            var (next, outcome) = StoreRules.Decide(state, record, new LogPlace(new LogPosition(++number), 0, 0));
            Assert.Equal(Verdict.Done, outcome.Verdict);
            state = next;
        }

        static byte[] Save(StoreState state)
        {
            var buffer = new ArgumentBuffer();
            StatePages.Save(buffer, state);
            return buffer.WrittenSpan.ToArray();
        }
    }
}
