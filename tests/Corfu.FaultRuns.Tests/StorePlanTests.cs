using Corfu.FaultRuns.Objects.Clients;
using Corfu.FaultRuns.Objects.Faults;

namespace Corfu.FaultRuns.Tests;

/// <summary>The faults of a seed, and the bytes and files of the store's clients.</summary>
public sealed class StorePlanTests
{
    private static readonly StoreFault[] s_kinds = Enum.GetValues<StoreFault>();

    [Fact]
    public void Plan_of_a_seed_is_the_same_each_time_and_another_seeds_is_not()
    {
        PlannedFault[] plan = [.. PlannedFault.Plan(7, 5, s_kinds).Take(40)];
        Assert.Equal(plan, PlannedFault.Plan(7, 5, s_kinds).Take(40));
        Assert.NotEqual(plan, PlannedFault.Plan(8, 5, s_kinds).Take(40));
        Assert.All(plan, fault => Assert.NotEqual(fault.Node, fault.Other));
    }

    [Fact]
    public void Plan_has_a_kill_a_stop_and_a_partition_first_and_every_kind_in_each_round()
    {
        PlannedFault[] plan = [.. PlannedFault.Plan(3, 5, s_kinds).Take(2 * s_kinds.Length)];
        Assert.Equal([StoreFault.KillNode, StoreFault.StopNode, StoreFault.CutNode],
            plan.Take(3).Select(fault => fault.Kind).Order());
        Assert.Equal(s_kinds, plan.Take(s_kinds.Length).Select(fault => fault.Kind).Order());
        Assert.Equal(s_kinds, plan.Skip(s_kinds.Length).Select(fault => fault.Kind).Order());
    }

    [Fact]
    public void Register_value_comes_back_and_a_damaged_one_is_told()
    {
        for (var i = 0; i < 100; i++)
        {
            var text = ValueText.Of($"c1-{i}");
            var bytes = ValueText.Encode(text);
            Assert.Equal(text, ValueText.Decode(bytes));
            bytes[^1] ^= 1;
            Assert.NotEqual(text, ValueText.Decode(bytes));
        }

        Assert.Equal("", ValueText.Decode(ValueText.Encode("")));
        Assert.Equal("a;b;", ValueText.Decode(ValueText.Encode("a;b;")));
    }

    [Fact]
    public void Call_log_gives_back_calls_and_transactions_up_to_a_torn_line()
    {
        var file = Path.GetTempFileName();
        var call = new ObjectCall("c1-1", "main-0", ObjectMode.Bounded, 5, ObjectHistory.Never, ObjectFate.Mismatch)
        {
            Version = 1L << 50,
            Seen = [new ObjectSeen("r0", 0, null), new ObjectSeen("r1", 7, "", IsDirty: true)],
            Tests = [new ObjectTest("r0", ObjectTestKind.Version, 3)],
            Acts = [new ObjectAct("n", ObjectActKind.Add, Delta: -4, Sum: 6)],
            MaxAhead = 2,
            MaxAge = 10,
            From = 5,
        };
        using (var log = new CallLog(file))
        {
            log.Add(new CallLine(call));
            log.Add(new CallLine(Transaction: new StoreTransaction("c1-2", 6, 8, TxFate.Committed, [call])));
        }

        File.AppendAllText(file, "{\"Call\":{\"Id\":\"c1-3\"");
        var lines = CallLog.Read(file).ToList();
        Assert.Equal(2, lines.Count);
        Assert.Equal($"{call}", $"{lines[0].Call}");
        Assert.Equal((call.MaxAhead, call.MaxAge, call.From, call.Version),
            (lines[0].Call!.MaxAhead, lines[0].Call!.MaxAge, lines[0].Call!.From, lines[0].Call!.Version));
        Assert.Equal(call.Acts, lines[0].Call!.Acts);
        Assert.Equal($"{call}", $"{lines[1].Transaction!.Parts[0]}");
        File.Delete(file);
    }
}
