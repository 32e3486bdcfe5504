using System.Buffers;
using Corfu.Protocol;

namespace Corfu.Transport.Tests;

/// <summary>The bytes of the protocol, made here from its description rather than by the code under test.</summary>
internal static class Wire
{
    public const int HelloSize = 48;

    public static int WelcomeSize(int roles) => 16 + 18 + (17 * roles);

    public static byte[] Hello(ClusterId cluster, NodeId target, ushort lowest = 1, ushort highest = 1)
    {
        var bytes = new byte[HelloSize];
        "CORFU\r\n\u001a"u8.CopyTo(bytes);
        bytes[8] = (byte)lowest;
        bytes[10] = (byte)highest;
        cluster.Value.TryWriteBytes(bytes.AsSpan(16));
        target.Value.TryWriteBytes(bytes.AsSpan(32));
        return bytes;
    }

    public static byte[] Frame(uint correlation, Request request)
    {
        var buffer = new FrameBuffer();
        MessageCodec.WriteRequest(buffer, correlation, request);
        return buffer.WrittenSpan.ToArray();
    }
}
