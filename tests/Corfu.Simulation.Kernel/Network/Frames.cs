using System.Buffers;
using Corfu.Protocol;

namespace Corfu.Simulation.Kernel.Network;

/// <summary>Everything between simulated processes goes through the real codec, both ways.</summary>
internal static class Frames
{
    public static byte[] Encode(uint correlation, Request request, ushort version)
    {
        var buffer = new FrameBuffer(256);
        MessageCodec.WriteRequest(buffer, correlation, request, version);
        return buffer.WrittenSpan.ToArray();
    }

    public static byte[] Encode(uint correlation, Opcode opcode, Response response, ushort version)
    {
        var buffer = new FrameBuffer(256);
        MessageCodec.WriteResponse(buffer, correlation, opcode, response, version);
        return buffer.WrittenSpan.ToArray();
    }
}
