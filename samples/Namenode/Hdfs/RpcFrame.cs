using System.Buffers;
using System.Buffers.Binary;
using System.IO.Pipelines;
using Google.Protobuf;

namespace NamenodeSample.Hdfs;

/// <summary>Frames of Hadoop RPC, version 9.</summary>
/// <remarks>
/// <code>
/// connection = "hrpc" version:byte class:byte auth:byte frame*
/// frame      = length:uint32, big endian, then messages of that length together
/// message    = length:varint, then protobuf of that length
/// </code>
/// A request's messages are its header, and the connection's context (call -3) or the call's header and request. A
/// response's are its header and, if the call succeeded, the response.
/// </remarks>
internal static class RpcFrame
{
    public const int PreambleBytes = 7;
    public const int Version = 9;

    /// <summary>Metadata calls are small: a path has 8,000 characters at most.</summary>
    public const int MaxBytes = 256 << 10;

    private const int LengthBytes = 4;

    /// <returns>Null: the connection has ended between frames.</returns>
    /// <exception cref="RpcException">These are no frames, or the connection has ended within one.</exception>
    public static async ValueTask<CodedInputStream?> ReadAsync(PipeReader input, CancellationToken cancellationToken)
    {
        byte[]? prefix = await ReadAsync(input, LengthBytes, cancellationToken);
        if (prefix is null) return null;
        uint length = BinaryPrimitives.ReadUInt32BigEndian(prefix);
        if (length is 0 or > MaxBytes)
            throw new RpcException($"a frame has {length} bytes, and 1 to {MaxBytes} are allowed");
        return await ReadAsync(input, (int)length, cancellationToken) is { } bytes
            ? new CodedInputStream(bytes)
            : throw new RpcException("the connection has ended within a frame");
    }

    /// <returns>The bytes; null: the connection has ended before the first.</returns>
    public static async ValueTask<byte[]?> ReadAsync(PipeReader input, int count, CancellationToken cancellationToken)
    {
        ReadResult read = await input.ReadAtLeastAsync(count, cancellationToken);
        if (read.Buffer.Length < count)
        {
            bool isEmpty = read.Buffer.IsEmpty;
            input.AdvanceTo(read.Buffer.End);
            return isEmpty ? null : throw new RpcException("the connection has ended within a frame");
        }

        byte[] bytes = read.Buffer.Slice(0, count).ToArray();
        input.AdvanceTo(read.Buffer.GetPosition(count));
        return bytes;
    }

    /// <summary>The next message of a frame.</summary>
    /// <exception cref="RpcException">The bytes are no such message.</exception>
    public static T Parse<T>(CodedInputStream frame) where T : IMessage, new()
    {
        var message = new T();
        try
        {
            frame.ReadMessage(message);
        }
        catch (InvalidProtocolBufferException e)
        {
            throw new RpcException($"a frame has no {typeof(T).Name}: {e.Message}");
        }

        return message.IsInitialized() ? message : throw new RpcException($"a field of {typeof(T).Name} is missing");
    }

    public static byte[] Write(params ReadOnlySpan<IMessage> messages)
    {
        using var frame = new MemoryStream();
        frame.Write(stackalloc byte[LengthBytes]);
        foreach (IMessage message in messages) message.WriteDelimitedTo(frame);
        byte[] bytes = frame.ToArray();
        BinaryPrimitives.WriteUInt32BigEndian(bytes, (uint)(bytes.Length - LengthBytes));
        return bytes;
    }
}

/// <summary>A client does not speak the protocol: the connection ends.</summary>
internal sealed class RpcException(string message) : Exception(message);
