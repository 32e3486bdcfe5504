using System.Runtime.CompilerServices;
using Craq.Coordination;
using Tango.Formatting;
using static Craq.Tests.Coordination.Samples;

namespace Craq.Tests.Coordination;

/// <summary>The bytes stand in logs: a change of one of these lines needs another version of its format.</summary>
public class StoredFormatTests
{
    static StoredFormatTests() => RuntimeHelpers.RunClassConstructor(typeof(CraqDirectory).TypeHandle);

    [Fact]
    public void Bytes_of_stored_values_never_change()
    {
        var config = Open(2).Config;
        AssertBytes("c4108382ad29f619ac0941583fcb0eec6b4b", config.Id);
        AssertBytes("c41001000000000000000000000000000000", Id(1));
        AssertBytes("c4080700000000000000", new Epoch(7));
        var open =
            "c4a58382ad29f619ac0941583fcb0eec6b4b05000000636861696e010000000000000001020000000100000000000000"
            + "000000000000000004000000656173740200000000000000000000000000000004000000656173740200000001000000"
            + "000000000000000000000000040000006561737402000000000000000000000000000000040000006561737401000000"
            + "0000000001000000020000000000000000000000000000";
        AssertBytes(open, config);
        // The state of the epoch is one byte behind its number, and a newcomer stands at the end.
        var epoch = "636861696e0100000000000000";
        AssertBytes(open.Replace(epoch + "01", epoch + "02", StringComparison.Ordinal),
            config with { IsRecordedOpen = false, IsUnopened = true });
        AssertBytes(open.Replace(epoch + "01", epoch + "04", StringComparison.Ordinal)
                .Replace("c4a5", "c4b5", StringComparison.Ordinal) + "02000000000000000000000000000000",
            config with { IsRecordedOpen = false, Newcomer = Id(2) });
        AssertBytes("c428010000000000000000000000000000000400000065617374090000003132372e302e302e31a10f00", Node(1));
        AssertBytes("c4140000000001000000020000000000000000000000", config.Placement);
        AssertBytes("c403000001", ChainOptions.Default with { Values = ValuePath.Relay });
    }

    [Fact]
    public void Bytes_of_changes_never_change()
    {
        AssertBytes("c41601010000000100000000000000000000000000000001", Destroyed(1));
        AssertBytes("c415020200000000000000000000000000000003000000", Promote(2, 3));
        AssertBytes<ChainChange>("c415030100000001000000000000000000000000000000", new ChainChange.Reorder(Ids(1)));
        AssertBytes<ChainChange>(
            "c421040100000001000000610200000000000000020000000000000000000000000000",
            new ChainChange.SetOptions(Placement.Explicit(2, "a"), ChainOptions.Default));
        AssertBytes<ChainChange>("c40105", new ChainChange.Renew());
    }

    [Fact]
    public void Bytes_of_decisions_never_change() => AssertBytes(
        "c41d0201000000cd219b27c17e1291eaed86aedf8507e70700000000000000",
        new TransactionDecision(TransactionOutcome.Aborted, [new PartId(ChainId.FromName("a"), new ObjectVersion(7))]));

    private static void AssertBytes<T>(string expected, T value) =>
        Assert.Equal(expected, Convert.ToHexStringLower(TangoFormatters.ToBytes(value).Span));
}
