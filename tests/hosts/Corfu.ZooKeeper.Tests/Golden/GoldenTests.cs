namespace Corfu.ZooKeeper.Tests.Golden;

/// <summary>Frames between kazoo's encoder and a real ZooKeeper 3.8, recorded by <c>record.py</c>.</summary>
public sealed class GoldenTests
{
    private static readonly Line[] s_lines =
        [.. File.ReadAllLines(Path.Combine(AppContext.BaseDirectory, "Golden", "transcript.txt")).Select(Line.Of)];

    [Fact]
    public void Requests_are_read_and_written_as_by_other_clients()
    {
        var seen = new HashSet<OpCode>();
        foreach (var line in s_lines.Where(line => line.Request.Length > 0 && line.Name != "connect"))
        {
            var request = Requests.Decode(line.Request, out var head);
            var isShort = line.Error == ErrorCode.MarshallingError;
            Assert.Equal(isShort, request is null);
            if (request is null) continue;
            Assert.Equal(Convert.ToHexString(line.Request), Convert.ToHexString(Requests.Encode(head.Xid, request)));
            seen.Add(head.Code);
        }

        // A reconfiguration and SASL are refused whatever they say.
        Assert.Equal([OpCode.Check, OpCode.Reconfig, OpCode.Sasl], Enum.GetValues<OpCode>().Except(seen).Order());
    }

    [Fact]
    public void Handshake_is_that_of_the_server()
    {
        var line = s_lines[0];
        using var writer = new JuteWriter();
        ConnectRequest.Read(line.Request)!.Write(writer);
        Assert.Equal(Convert.ToHexString(line.Request), Convert.ToHexString(writer.Written[sizeof(int)..]));
        writer.Clear();
        ConnectResponse.Read(line.Reply)!.Write(writer);
        Assert.Equal(Convert.ToHexString(line.Reply), Convert.ToHexString(writer.Written[sizeof(int)..]));
    }

    [Fact]
    public void Replies_are_read_and_written_as_by_the_server()
    {
        using var writer = new JuteWriter();
        foreach (var line in s_lines.Skip(1))
        {
            var reader = new JuteReader(line.Reply);
            Assert.True(ReplyReader.TryReadHead(ref reader, out var head));
            writer.Clear();
            if (line.Request.Length == 0) WriteEvent(writer, head, ref reader);
            else WriteReply(writer, line, head, ref reader);
            Assert.False(reader.IsMalformed);
            Assert.Equal(0, reader.Left);
            Assert.Equal(Convert.ToHexString(line.Reply), Convert.ToHexString(writer.Written[sizeof(int)..]));
        }
    }

    [Fact]
    public void Failed_multi_has_an_error_for_each_part()
    {
        var failed = s_lines.Where(line => line.Name == "multi").ElementAt(1);
        var reader = new JuteReader(failed.Reply);
        ReplyReader.TryReadHead(ref reader, out var head);
        var reply = ReplyReader.ReadBody(OpCode.Multi, head, ref reader)!;
        Assert.Equal(ErrorCode.Ok, reply.Error);
        Assert.Equal([ErrorCode.Ok, ErrorCode.BadVersion, ErrorCode.RuntimeInconsistency],
            reply.Parts.Select(part => part.Error));
    }

    private static void WriteEvent(JuteWriter writer, in ReplyHead head, ref JuteReader reader)
    {
        Assert.Equal(RequestHead.EventXid, head.Xid);
        var told = ReplyReader.ReadEvent(head.Zxid, ref reader)!;
        ReplyWriter.WriteEvent(writer, told.Zxid, told.Kind, told.Path);
    }

    private static void WriteReply(JuteWriter writer, Line line, in ReplyHead head, ref JuteReader reader)
    {
        var request = Requests.Decode(line.Request, out var asked);
        Assert.Equal(asked.Xid, head.Xid);
        var reply = ReplyReader.ReadBody(asked.Code, head, ref reader)!;
        if (request is MultiRequest or WriteRequest)
        {
            ReplyWriter.Write(writer, head.Xid, head.Zxid, request, ResultOf(request, reply));
            return;
        }

        ReplyWriter.Begin(writer, head);
        if (head.Error == ErrorCode.Ok) WriteBody(writer, asked.Code, reply);
        writer.EndFrame();
    }

    private static void WriteBody(JuteWriter writer, OpCode code, ServerReply reply)
    {
        if (code == OpCode.Sync) writer.WriteString(reply.Path);
        if (code == OpCode.GetData) writer.WriteBuffer(DataOf(reply));
        if (code is OpCode.GetChildren or OpCode.GetChildren2 or OpCode.GetEphemerals) writer.WriteStrings(reply.Names);
        if (code == OpCode.GetAcl) writer.WriteAcl(reply.Acl);
        if (code == OpCode.WhoAmI) ReplyWriter.WriteIds(writer, reply.Ids);
        if (code == OpCode.GetAllChildrenNumber) writer.WriteInt32(reply.Count);
        if (code == OpCode.AddWatch) writer.WriteInt32(0);
        if (code is OpCode.Exists or OpCode.GetData or OpCode.GetAcl or OpCode.GetChildren2)
            writer.WriteStat(reply.Stat!.Value);
        if (code != OpCode.MultiRead) return;
        foreach (var part in reply.Parts)
        {
            if (part.Error != ErrorCode.Ok)
            {
                MultiCodec.WriteError(writer, part.Error);
                continue;
            }

            var kind = part.Stat is null ? OpCode.GetChildren : OpCode.GetData;
            MultiCodec.WriteHead(writer, (int)kind, ErrorCode.Ok);
            WriteBody(writer, kind, part);
        }

        MultiCodec.WriteEnd(writer);
    }

    private static ReadOnlyMemory<byte>? DataOf(ServerReply reply) =>
        reply.Data is { } data ? new ReadOnlyMemory<byte>(data) : default(ReadOnlyMemory<byte>?);

    private static TreeResult ResultOf(ClientRequest request, ServerReply reply)
    {
        var error = (ZooKeeperError)reply.Error;
        if (request is not MultiRequest) return new OpResult(error, reply.Path, reply.Stat);
        var parts = reply.Parts.Select(part => new OpResult((ZooKeeperError)part.Error, part.Path, part.Stat));
        var failed = reply.Parts.FirstOrDefault(part => part.Error != ErrorCode.Ok)?.Error ?? ErrorCode.Ok;
        return new MultiResult((ZooKeeperError)failed, [.. parts]);
    }

    private sealed record Line(string Name, byte[] Request, byte[] Reply)
    {
        private const int ErrorAt = 12;

        public ErrorCode Error => (ErrorCode)System.Buffers.Binary.BinaryPrimitives.ReadInt32BigEndian(
            Reply.AsSpan(ErrorAt));

        public static Line Of(string text)
        {
            var fields = text.Split(' ');
            return new Line(fields[0], BytesOf(fields[1]), BytesOf(fields[2]));
        }

        private static byte[] BytesOf(string hex) => hex == "-" ? [] : Convert.FromHexString(hex);
    }
}
