using System.Buffers;
using System.Buffers.Binary;
using System.IO.Pipelines;
using System.Text;

namespace Salus.Nbd.Tests.Support;

internal sealed record OptionAnswer(OptionCode Option, OptionReply Kind, byte[] Data)
{
    public string Text => Encoding.UTF8.GetString(Data);
}

internal sealed record SimpleAnswer(NbdError Error, ulong Cookie, byte[] Data);

internal sealed record ChunkAnswer(bool IsLast, ChunkKind Kind, ulong Cookie, byte[] Payload)
{
    public NbdError Error => (NbdError)BinaryPrimitives.ReadUInt32BigEndian(Payload);

    public ulong Offset => BinaryPrimitives.ReadUInt64BigEndian(Payload);
}

/// <summary>A client that sends and reads raw bytes. A read that gets nothing for long fails.</summary>
internal sealed class NbdPeer : IAsyncDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(20);

    private readonly Pipe _toServer = new();
    private readonly Pipe _toClient = new();
    private readonly CancellationTokenSource _broken = new();
    private PipeReader _input;
    private PipeWriter _output;

    public NbdPeer(Salus.Nbd.NbdServices services)
    {
        Connection = new NbdConnection("a test", services, _broken.Token);
        Serving = Task.Run(() => Connection.ServeAsync(new PipePair(_toServer.Reader, _toClient.Writer)));
        (_input, _output) = (_toClient.Reader, _toServer.Writer);
    }

    public NbdConnection Connection { get; }

    /// <summary>Ends with the connection.</summary>
    public Task Serving { get; }

    public IDuplexPipe Transport => new PipePair(_input, _output);

    /// <summary>Goes on over the stream, which is encrypted.</summary>
    public void Switch(Stream stream) => (_input, _output) = (PipeReader.Create(stream), PipeWriter.Create(stream));

    public async Task SendAsync(ReadOnlyMemory<byte> bytes) =>
        await _output.WriteAsync(bytes).AsTask().WaitAsync(s_patience);

    public async Task<byte[]> ReadAsync(int count)
    {
        if (count == 0) return [];
        var read = await _input.ReadAtLeastAsync(count).AsTask().WaitAsync(s_patience);
        Assert.True(read.Buffer.Length >= count, $"The connection ended after {read.Buffer.Length} of {count} bytes.");
        var bytes = read.Buffer.Slice(0, count).ToArray();
        _input.AdvanceTo(read.Buffer.GetPosition(count));
        return bytes;
    }

    /// <summary>Whether the server has sent something that was not read.</summary>
    public bool HasAnswer
    {
        get
        {
            if (!_input.TryRead(out var read)) return false;
            var isThere = !read.Buffer.IsEmpty;
            _input.AdvanceTo(read.Buffer.Start);
            return isThere;
        }
    }

    /// <summary>The server has closed the connection, and sent nothing more.</summary>
    public async Task AssertEndAsync()
    {
        await Serving.WaitAsync(s_patience);
        var read = await _input.ReadAsync().AsTask().WaitAsync(s_patience);
        Assert.True(read.IsCompleted);
        Assert.Equal(0, read.Buffer.Length);
        _input.AdvanceTo(read.Buffer.Start);
    }

    public async Task GreetAsync(uint flags = 3)
    {
        Assert.Equal([.. "NBDMAGIC"u8, .. "IHAVEOPT"u8, 0, 3], await ReadAsync(18));
        await SendAsync(Bytes.U32(flags));
    }

    public Task SendOptionAsync(OptionCode option, byte[] data) => SendAsync(Bytes.Option((uint)option, data));

    public async Task<OptionAnswer> ReadOptionAsync()
    {
        var head = await ReadAsync(20);
        Assert.Equal(0x0003e889045565a9ul, BinaryPrimitives.ReadUInt64BigEndian(head));
        var data = await ReadAsync(BinaryPrimitives.ReadInt32BigEndian(head.AsSpan(16)));
        return new OptionAnswer((OptionCode)BinaryPrimitives.ReadUInt32BigEndian(head.AsSpan(8)),
            (OptionReply)BinaryPrimitives.ReadUInt32BigEndian(head.AsSpan(12)), data);
    }

    public Task SendCommandAsync(CommandCode code, ulong offset, uint length, ulong cookie = 1,
        CommandFlags flags = CommandFlags.None) => SendAsync(Bytes.Command(code, offset, length, cookie, flags));

    public Task SendWriteAsync(
        ulong offset, byte[] data, ulong cookie = 1, CommandFlags flags = CommandFlags.None) =>
        SendAsync((byte[])[.. Bytes.Command(CommandCode.Write, offset, (uint)data.Length, cookie, flags), .. data]);

    /// <param name="length">Bytes behind a reply without an error.</param>
    public async Task<SimpleAnswer> ReadSimpleAsync(int length = 0)
    {
        var head = await ReadAsync(16);
        Assert.Equal(0x67446698u, BinaryPrimitives.ReadUInt32BigEndian(head));
        var error = (NbdError)BinaryPrimitives.ReadUInt32BigEndian(head.AsSpan(4));
        return new SimpleAnswer(error, BinaryPrimitives.ReadUInt64BigEndian(head.AsSpan(8)),
            error == NbdError.None ? await ReadAsync(length) : []);
    }

    public async Task<ChunkAnswer> ReadChunkAsync()
    {
        var head = await ReadAsync(20);
        Assert.Equal(0x668e33efu, BinaryPrimitives.ReadUInt32BigEndian(head));
        return new ChunkAnswer(head[5] == 1, (ChunkKind)BinaryPrimitives.ReadUInt16BigEndian(head.AsSpan(6)),
            BinaryPrimitives.ReadUInt64BigEndian(head.AsSpan(8)),
            await ReadAsync(BinaryPrimitives.ReadInt32BigEndian(head.AsSpan(16))));
    }

    /// <summary>Writes and takes the reply.</summary>
    public async Task<NbdError> WriteAsync(ulong offset, byte[] data, CommandFlags flags = CommandFlags.None)
    {
        await SendWriteAsync(offset, data, flags: flags);
        return (await ReadSimpleAsync()).Error;
    }

    /// <summary>Sends a command and takes its simple reply.</summary>
    public async Task<NbdError> CallAsync(
        CommandCode code, ulong offset, uint length, CommandFlags flags = CommandFlags.None)
    {
        await SendCommandAsync(code, offset, length, flags: flags);
        return (await ReadSimpleAsync()).Error;
    }

    /// <summary>Reads in one chunk; the client takes structured replies.</summary>
    public async Task<byte[]> ReadDataAsync(ulong offset, uint length)
    {
        await SendCommandAsync(CommandCode.Read, offset, length, flags: CommandFlags.DontFragment);
        var chunk = await ReadChunkAsync();
        Assert.Equal((true, ChunkKind.OffsetData, offset), (chunk.IsLast, chunk.Kind, chunk.Offset));
        return chunk.Payload[8..];
    }

    /// <summary>Closes the client's side without a word.</summary>
    public ValueTask CloseAsync() => _output.CompleteAsync();

    /// <summary>The network has lost the connection.</summary>
    public void Break() => _broken.Cancel();

    public async ValueTask DisposeAsync()
    {
        Break();
        await _toServer.Writer.CompleteAsync();
        await _toClient.Reader.CompleteAsync();
        await Serving.WaitAsync(s_patience);
        _broken.Dispose();
    }
}
