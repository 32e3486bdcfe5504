using System.Runtime.CompilerServices;

namespace Salus.Protocol.Tests;

/// <summary>The wire of Salus's messages. A recording in <c>Golden/</c> changes never (docs/compatibility.md); set
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
        var header = SampleMessages.Frame(request.Opcode, Status.Ok, body.Length) with { Epoch = request.Epoch };
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
                request, SampleMessages.Frame(request.Opcode, answer.Status, body.Length), body);
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

    [Fact]
    public void All_requests_of_the_table_have_samples()
    {
        var sampled = SampleMessages.All().Select(sample => sample.Request.Opcode).ToHashSet();
        for (var opcode = 144; opcode < 192; opcode++)
        {
            // A client may send some of them; for all others the table has no row, or a node's.
            var isKnown = SampleMessages.Table.Judge((Opcode)opcode, AccessRole.Caller) == AccessVerdict.Denied
                && IsRead((Opcode)opcode);
            Assert.Equal(isKnown, sampled.Contains((Opcode)opcode));
        }
    }

    [Fact]
    public void Client_puts_gets_reads_trees_asks_and_cuts_only()
    {
        var allowed = SampleMessages.All().Select(sample => sample.Request.Opcode)
            .Where(opcode => SampleMessages.Table.Judge(opcode, AccessRole.Client) == AccessVerdict.Allowed);
        Assert.Equal(
            [
                SalusOpcode.PutBatch, SalusOpcode.Get, SalusOpcode.ReadTree, SalusOpcode.RegionStatus,
                SalusOpcode.RegionHistory, SalusOpcode.Cut, SalusOpcode.StoreInfo,
            ],
            allowed);
    }

    [Fact]
    public void Record_of_another_generation_than_the_frame_is_refused()
    {
        var request = (ForwardRequest)SampleOf((byte)SalusOpcode.Forward).Request;
        var body = SampleMessages.Body(request);
        var frame = SampleMessages.Frame(SalusOpcode.Forward, Status.Ok, body.Length) with { Epoch = new Epoch(6) };
        Assert.Throws<MalformedDataException>(() =>
            MessageCodec.ReadRequest(frame, body, SampleMessages.Table, WireProtocol.Current.Highest));
    }

    [Fact]
    public void Impossible_numbers_are_refused()
    {
        var (epoch, region) = (SampleMessages.Epoch, SampleMessages.Region);
        Request[] requests =
        [
            new GetRequest(epoch, region, 0, 0, 0, null), new GetRequest(epoch, region, 1 << 18, 1, 0, null),
            new GetRequest(epoch, region, 0, GetRequest.MaxBlocks + 1, 0, null),
            new GetRequest(epoch, region, (1 << 18) - 1, 2, 0, null), new GetRequest(epoch, region, 0, 1, -1, null),
            new ReadTreeRequest(epoch, region, [1024], 0, null), new ReadTreeRequest(epoch, region, [-1], 0, null),
            new ListLogRequest(epoch, region, 1, 0),
            new ListLogRequest(epoch, region, 1, ListLogRequest.MaxRecords + 1),
            new ReadFileRequest(epoch, region, 1, 0, 0),
            new ReadFileRequest(epoch, region, 1, 0, ReadFileRequest.MaxLength + 1),
            new SealRegionRequest(epoch, region with { Region = VolumeGeometry.MaxRegions }),
            new SealRegionRequest(epoch, region with { Region = -1 }), new DecideRequest(epoch, region, [], null, []),
            new ForwardRequest(epoch, SampleMessages.Head() with { Index = 0 }, [], default, null),
            new ForwardRequest(epoch, SampleMessages.Head() with { Kind = (RegionRecordKind)5 }, [], default, null),
        ];
        foreach (var request in requests)
        {
            var body = SampleMessages.Body(request);
            var frame = SampleMessages.Frame(request.Opcode, Status.Ok, body.Length);
            Assert.Throws<MalformedDataException>(() =>
                MessageCodec.ReadRequest(frame, body, SampleMessages.Table, WireProtocol.Current.Highest));
        }
    }

    private static bool IsRead(Opcode opcode)
    {
        try
        {
            return MessageCodec.ReadRequest(SampleMessages.Frame(opcode, Status.Ok, 0), default, SampleMessages.Table,
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
