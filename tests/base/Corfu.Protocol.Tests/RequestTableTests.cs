using Corfu.Protocol;

namespace Corfu.Protocol.Tests;

/// <summary>Every role adds its requests to the table of a process.</summary>
public sealed class RequestTableTests
{
    private const Opcode Own = (Opcode)130;

    [Fact]
    public void Request_of_a_role_that_Protocol_does_not_know_is_read()
    {
        var table = new RequestTable(UnitMessages.AddTo, AddOwn);
        var read = MessageCodec.ReadRequest(new FrameHeader(0, 1, Epoch.First, Own, Status.Ok), default, table);
        Assert.Equal(new OwnRequest(Epoch.First), read);
        Assert.Null(new RequestTable(UnitMessages.AddTo).ReaderOf(Own, WireProtocol.Baseline));
    }

    [Fact]
    public void Request_of_a_later_version_is_unknown_on_an_older_connection()
    {
        var table = new RequestTable(table => table.Add(
            Own, static (epoch, ref _) => new OwnRequest(epoch), since: 2, AccessRole.Client));
        Assert.Null(table.ReaderOf(Own, 1));
        Assert.NotNull(table.ReaderOf(Own, 2));
        Assert.NotNull(table.ReaderOf(Own, 3));
    }

    [Fact]
    public void Opcode_of_two_requests_is_refused()
    {
        var fault = Assert.Throws<ArgumentException>(() => new RequestTable(AddOwn, UnitMessages.AddTo, AddOwn));
        Assert.Contains("130", fault.Message, StringComparison.Ordinal);
        fault = Assert.Throws<ArgumentException>(() => new RequestTable(UnitMessages.AddTo, UnitMessages.AddTo));
        Assert.Contains("1 (Write)", fault.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Opcode_that_is_none_is_refused() => Assert.Throws<ArgumentException>(
        () => new RequestTable().Add(Opcode.None, static (epoch, ref _) => new OwnRequest(epoch)));

    /// <summary>The ranges are those that <see cref="Opcode"/> documents.</summary>
    [Fact]
    public void Opcode_lies_in_the_range_of_the_role()
    {
        Action<RequestTable>[] roles =
            [UnitMessages.AddTo, SequencerMessages.AddTo, LayoutMessages.AddTo, AgentMessages.AddTo];
        for (var i = 0; i < roles.Length; i++)
        {
            var table = new RequestTable(roles[i]);
            Assert.Equal(Enum.GetValues<Opcode>().Where(o => o != Opcode.None && (int)o / 32 == i),
                Enumerable.Range(0, 256).Where(o => table.ReaderOf((Opcode)o, WireProtocol.Current.Highest) is not null)
                    .Select(o => (Opcode)o));
        }
    }

    private static void AddOwn(RequestTable table) =>
        table.Add(Own, static (epoch, ref _) => new OwnRequest(epoch), lowest: AccessRole.Client);

    private sealed record OwnRequest(Epoch Epoch) : AckRequest(Own, Epoch);
}
