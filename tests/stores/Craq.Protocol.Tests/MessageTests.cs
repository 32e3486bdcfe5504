using System.Runtime.CompilerServices;

namespace Craq.Protocol.Tests;

/// <summary>The wire of CRAQ's messages. A recording in <c>Golden/</c> changes never (docs/compatibility.md); set
/// CORFU_RECORD=1 to record a new opcode.</summary>
public sealed class MessageTests
{
    private static readonly bool s_isRecording = Environment.GetEnvironmentVariable("CORFU_RECORD") == "1";

    public static TheoryData<byte> Opcodes =>
        [.. SampleMessages.All().Select(sample => (byte)sample.Request.Opcode)];

    [Theory]
    [MemberData(nameof(Opcodes))]
    public void Request_comes_back_whole(byte opcode)
    {
        var request = SampleOf(opcode).Request;
        var body = SampleMessages.Body(request);
        var header = SampleMessages.Header(request.Opcode, Status.Ok, body.Length) with { Epoch = request.Epoch };
        var back = MessageCodec.ReadRequest(header, body, SampleMessages.Table, WireProtocol.Current.Highest);
        Assert.IsType(request.GetType(), back);
        Assert.Equal(body, SampleMessages.Body(back!));
    }

    [Theory]
    [MemberData(nameof(Opcodes))]
    public void Answers_come_back_whole(byte opcode)
    {
        var (request, answers) = SampleOf(opcode);
        foreach (var answer in answers)
        {
            var body = SampleMessages.Body(answer);
            var back = MessageCodec.ReadResponse(
                request, SampleMessages.Header(request.Opcode, answer.Status, body.Length), body);
            Assert.Equal(answer.Status, back.Status);
            Assert.Equal(body, SampleMessages.Body(back));
        }
    }

    [Theory]
    [MemberData(nameof(Opcodes))]
    public void Messages_have_the_recorded_bytes(byte opcode)
    {
        var (request, answers) = SampleOf(opcode);
        var lines = new List<string> { $"request {Convert.ToHexString(SampleMessages.Body(request))}" };
        foreach (var answer in answers)
            lines.Add($"{(byte)answer.Status} {Convert.ToHexString(SampleMessages.Body(answer))}");
        var name = $"{opcode:000}.txt";
        if (s_isRecording) File.WriteAllLines(Path.Combine(SourceFolder(), name), lines);
        else Assert.Equal(File.ReadAllLines(Path.Combine(AppContext.BaseDirectory, "Golden", name)), lines);
    }

    /// <summary>The comparison of contents came behind the recorded fields: bytes without them mean that none are asked
    /// for or told, and a build that does not know them passes over them.</summary>
    [Fact]
    public void Contents_stand_behind_the_recorded_fields_of_a_reconciliation()
    {
        var (plain, answers) = SampleOf((byte)CraqOpcode.Reconcile);
        var request = (ReconcileRequest)plain with
        {
            Contents = new HashRange(new KeyHash(1, 2), new KeyHash(3, ulong.MaxValue)),
        };
        var body = SampleMessages.Body(request);
        Assert.Equal(Convert.ToHexString(SampleMessages.Body(plain))
            + "01000000000000000200000000000000" + "0300000000000000FFFFFFFFFFFFFFFF", Convert.ToHexString(body));
        Assert.Equal(request.Contents, ReadRequest(body).Contents);
        Assert.Null(ReadRequest(SampleMessages.Body(plain)).Contents);

        var content = new ObjectContent(new KeyHash(1, 2), SampleMessages.Version(5), 9);
        var answer = (ReconcileResponse)answers[0] with { Contents = new ContentList([content], new KeyHash(2, 0)) };
        body = SampleMessages.Body(answer);
        Assert.Equal(Convert.ToHexString(SampleMessages.Body(answers[0]))
            + "01000000" + "01000000000000000200000000000000" + "0500000000050000" + "0900000000000000"
            + "01" + "02000000000000000000000000000000", Convert.ToHexString(body));
        var list = ReadAnswer(request, body).Contents!;
        Assert.Equal(content, Assert.Single(list.Objects));
        Assert.Equal(new KeyHash(2, 0), list.Next);
        Assert.Null(ReadAnswer(request, SampleMessages.Body(answers[0])).Contents);

        static ReconcileRequest ReadRequest(byte[] body) => Assert.IsType<ReconcileRequest>(MessageCodec.ReadRequest(
            SampleMessages.Header(CraqOpcode.Reconcile, Status.Ok, body.Length) with { Epoch = SampleMessages.Epoch },
            body, SampleMessages.Table, WireProtocol.Current.Highest));

        static ReconcileResponse ReadAnswer(Request request, byte[] body) => Assert.IsType<ReconcileResponse>(
            MessageCodec.ReadResponse(
                request, SampleMessages.Header(CraqOpcode.Reconcile, Status.Ok, body.Length), body));
    }

    [Fact]
    public void All_requests_of_the_table_have_samples()
    {
        var sampled = SampleMessages.All().Select(sample => sample.Request.Opcode).ToHashSet();
        for (var opcode = 128; opcode < 144; opcode++)
        {
            // A client may send some of them; for all others the table has no row, or a node's.
            var isKnown = SampleMessages.Table.Judge((Opcode)opcode, AccessRole.Caller) == AccessVerdict.Denied
                && IsRead((Opcode)opcode);
            Assert.Equal(isKnown, sampled.Contains((Opcode)opcode));
        }
    }

    [Fact]
    public void Client_reads_writes_transacts_and_learns_of_chains_only()
    {
        var allowed = SampleMessages.All().Select(sample => sample.Request.Opcode)
            .Where(opcode => SampleMessages.Table.Judge(opcode, AccessRole.Client) == AccessVerdict.Allowed);
        Assert.Equal([CraqOpcode.Read, CraqOpcode.Mutate, CraqOpcode.Chains, CraqOpcode.Transact], allowed);
    }

    [Fact]
    public void Config_of_another_epoch_than_the_frame_is_refused()
    {
        var body = SampleMessages.Body(new InstallChainRequest(SampleMessages.Epoch, SampleMessages.View()));
        var header = SampleMessages.Header(CraqOpcode.Install, Status.Ok, body.Length) with { Epoch = new Epoch(6) };
        Assert.Throws<MalformedDataException>(() =>
            MessageCodec.ReadRequest(header, body, SampleMessages.Table, WireProtocol.Current.Highest));
    }

    [Fact]
    public void Config_with_a_member_twice_is_refused()
    {
        var view = SampleMessages.View();
        var config = view.Config with { Members = view.Config.Members.SetItem(2, view.Config.Members[0]) };
        var body = SampleMessages.Body(
            new InstallChainRequest(SampleMessages.Epoch, view with { Config = config }));
        Assert.Throws<MalformedDataException>(() => MessageCodec.ReadRequest(
            SampleMessages.Header(CraqOpcode.Install, Status.Ok, body.Length), body, SampleMessages.Table,
            WireProtocol.Current.Highest));
    }

    [Fact]
    public void State_of_a_chain_is_read_as_written()
    {
        var open = SampleMessages.View().Config;
        var closed = open with { IsRecordedOpen = false };
        foreach (var config in new[]
        {
            open, closed, closed with { IsUnopened = true }, closed with { Newcomer = open.Members[1].Node },
        })
        {
            var read = ReadBack(config);
            Assert.Equal((config.IsRecordedOpen, config.IsUnopened, config.Newcomer),
                (read.IsRecordedOpen, read.IsUnopened, read.Newcomer));
            Assert.Equal(config.Options, read.Options);
        }
    }

    [Fact]
    public void Chain_that_is_open_and_unopened_or_has_a_strange_newcomer_is_refused()
    {
        var open = SampleMessages.View().Config;
        Assert.Throws<MalformedDataException>(() => ReadBack(open with { IsUnopened = true }));
        Assert.Throws<MalformedDataException>(() => ReadBack(open with { Newcomer = open.Members[1].Node }));
        Assert.Throws<MalformedDataException>(
            () => ReadBack(open with { IsRecordedOpen = false, Newcomer = new NodeId(SampleMessages.Id(77)) }));
    }

    [Fact]
    public void Parts_out_of_the_order_of_the_chains_are_refused()
    {
        var part = ((TransactRequest)SampleOf((byte)CraqOpcode.Transact).Request).Parts[0];
        var body = SampleMessages.Body(new TransactRequest(SampleMessages.Epoch, SampleMessages.Id(9), [part, part]));
        Assert.Throws<MalformedDataException>(() => MessageCodec.ReadRequest(
            SampleMessages.Header(CraqOpcode.Transact, Status.Ok, body.Length), body, SampleMessages.Table,
            WireProtocol.Current.Highest));
    }

    private static ChainConfig ReadBack(ChainConfig config)
    {
        var body = SampleMessages.Body(
            new InstallChainRequest(SampleMessages.Epoch, SampleMessages.View() with { Config = config }));
        var header = SampleMessages.Header(CraqOpcode.Install, Status.Ok, body.Length) with
        {
            Epoch = SampleMessages.Epoch,
        };
        var request = MessageCodec.ReadRequest(
            header, body, SampleMessages.Table, WireProtocol.Current.Highest);
        return Assert.IsType<InstallChainRequest>(request).View.Config;
    }

    private static bool IsRead(Opcode opcode)
    {
        try
        {
            return MessageCodec.ReadRequest(SampleMessages.Header(opcode, Status.Ok, 0), default, SampleMessages.Table,
                WireProtocol.Current.Highest) is not null;
        }
        catch (MalformedDataException)
        {
            return true;
        }
    }

    private static (Request Request, Response[] Answers) SampleOf(byte opcode) =>
        SampleMessages.All().Single(sample => (byte)sample.Request.Opcode == opcode);

    private static string SourceFolder([CallerFilePath] string file = "") =>
        Path.Combine(Path.GetDirectoryName(file)!, "Golden");
}
