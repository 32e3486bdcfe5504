using Corfu.Protocol;

namespace Corfu.Protocol.Tests;

/// <summary>The table of roles and opcodes.</summary>
public sealed class AccessTableTests
{
    private const Opcode Own = (Opcode)140;

    public static TheoryData<Opcode> Opcodes => [.. Enum.GetValues<Opcode>().Where(o => o != Opcode.None)];

    [Theory]
    [MemberData(nameof(Opcodes))]
    public void Opcode_has_one_row(Opcode opcode) => Assert.Single(AccessTable.Rows, row => row.Opcode == opcode);

    [Fact]
    public void Rows_stand_in_the_order_of_the_opcodes() =>
        Assert.Equal(AccessTable.Rows.OrderBy(row => row.Opcode), AccessTable.Rows);

    [Fact]
    public void Opcode_without_a_row_is_refused()
    {
        var fault = Assert.Throws<ArgumentException>(
            () => new RequestTable().Add(Own, static (epoch, ref _) => new SealRequest(epoch)));
        Assert.Contains("140", fault.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Opcode_with_a_row_takes_no_second_one() => Assert.Throws<ArgumentException>(
        () => new RequestTable().Add(
            Opcode.Seal, static (epoch, ref _) => new SealRequest(epoch), lowest: AccessRole.Client));

    [Theory]
    [MemberData(nameof(Opcodes))]
    public void Peer_without_a_certificate_and_caller_reach_no_opcode(Opcode opcode)
    {
        Assert.Equal(AccessVerdict.Denied, SampleMessages.Table.Judge(opcode, AccessRole.None));
        Assert.Equal(AccessVerdict.Denied, SampleMessages.Table.Judge(opcode, AccessRole.Caller));
    }

    [Fact]
    public void Peer_without_a_certificate_and_caller_reach_no_opcode_that_is_unknown()
    {
        Assert.Equal(AccessVerdict.Denied, SampleMessages.Table.Judge((Opcode)250, AccessRole.Caller));
        Assert.Equal(AccessVerdict.Allowed, SampleMessages.Table.Judge((Opcode)250, AccessRole.Client));
    }

    [Theory]
    [MemberData(nameof(Opcodes))]
    public void Higher_role_has_the_rights_of_a_lower_one(Opcode opcode)
    {
        var verdicts = Enum.GetValues<AccessRole>().Order()
            .Select(role => SampleMessages.Table.Judge(opcode, role)).ToList();
        Assert.Equal(verdicts.OrderDescending(), verdicts);
        Assert.Equal(AccessVerdict.Allowed, verdicts[^1]);
    }

    /// <summary>R12: one vote of a client could undo a decision.</summary>
    [Theory]
    [InlineData(Opcode.Prepare)]
    [InlineData(Opcode.Accept)]
    [InlineData(Opcode.Decided)]
    [InlineData(Opcode.Seal)]
    public void Client_has_no_part_in_an_election(Opcode opcode)
    {
        Assert.Equal(AccessVerdict.Denied, SampleMessages.Table.Judge(opcode, AccessRole.Client));
        Assert.Equal(AccessVerdict.Allowed, SampleMessages.Table.Judge(opcode, AccessRole.Admin));
    }

    [Theory]
    [InlineData(Opcode.Install)]
    [InlineData(Opcode.Bootstrap)]
    public void Projection_of_a_client_is_judged_by_the_gate(Opcode opcode)
    {
        Assert.Equal(AccessVerdict.Gated, SampleMessages.Table.Judge(opcode, AccessRole.Client));
        Assert.Equal(AccessVerdict.Allowed, SampleMessages.Table.Judge(opcode, AccessRole.Admin));
    }

    [Fact]
    public void Row_of_another_systems_role_counts()
    {
        var table = new RequestTable(static table => table.Add(
            Own, static (epoch, ref _) => new SealRequest(epoch), lowest: AccessRole.Admin));
        Assert.Equal(AccessVerdict.Denied, table.Judge(Own, AccessRole.Client));
        Assert.Equal(AccessVerdict.Allowed, table.Judge(Own, AccessRole.Admin));
    }

    /// <summary>The server refuses before it knows the request's type: its answer has no body.</summary>
    [Theory]
    [MemberData(nameof(Opcodes))]
    public void Bare_refusal_is_an_answer_to_every_request(Opcode opcode)
    {
        var frame = SampleMessages.Frame(opcode, new AckResponse(Status.Denied, Epoch.None));
        var request = SampleMessages.Requests().Single(r => r.Opcode == opcode);
        var answer = MessageCodec.ReadResponse(
            request, FrameHeader.Parse(frame), frame.AsMemory(MessageCodec.HeaderSize));
        Assert.Equal(Status.Denied, answer.Status);
    }

    /// <summary>An agent of version 1 neither sends nor expects deny lists.</summary>
    [Theory]
    [InlineData(1, 0UL, 0)]
    [InlineData(2, 7UL, 1)]
    public void Ping_has_denied_certificates_from_version_2_on(ushort version, ulong digest, int denied)
    {
        var ping = new PingRequest(SampleMessages.Epoch, SampleMessages.Node(1), false, default) { DeniedDigest = 7 };
        var buffer = new FrameBuffer();
        MessageCodec.WriteRequest(buffer, 1, ping, version);
        var read = MessageCodec.ReadRequest(FrameHeader.Parse(buffer.WrittenSpan),
            buffer.WrittenSpan[MessageCodec.HeaderSize..].ToArray(), SampleMessages.Table, version);
        Assert.Equal(digest, Assert.IsType<PingRequest>(read).DeniedDigest);

        var answer = new FrameBuffer();
        MessageCodec.WriteResponse(answer, 1, Opcode.Ping,
            new PingResponse(Status.Ok, SampleMessages.Epoch, default, []) { Denied = [SampleMessages.Denied] },
            version);
        var pong = MessageCodec.ReadResponse(ping, FrameHeader.Parse(answer.WrittenSpan),
            answer.WrittenSpan[MessageCodec.HeaderSize..].ToArray(), version);
        Assert.Equal(denied, Assert.IsType<PingResponse>(pong).Denied.Length);
    }
}
