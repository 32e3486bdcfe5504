using System.Buffers;
using System.Net;
using System.Net.Sockets;

namespace Corfu.Fuzz;

/// <summary>A connection that sends damaged frames among whole ones, and ends in some way.</summary>
internal static class PortAttack
{
    private const int FramesPerConnection = 32;

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);

    /// <param name="hello">First bytes of a connection; damaged at times.</param>
    /// <param name="repair">Makes a damaged frame fit again.</param>
    /// <returns>Frames that were sent.</returns>
    public static async Task<int> RunAsync(FuzzRandom random, IPEndPoint endpoint, byte[] hello,
        IReadOnlyList<byte[]> samples, Func<byte[], byte[]> repair)
    {
        var bytes = new ArrayBufferWriter<byte>();
        bytes.Write(random.OneIn(8) ? Mutator.Mutate(ref random, [hello]) : hello);
        var sent = 0;
        for (; sent < FramesPerConnection; sent++)
        {
            // Among whole ones, so that a connection goes on to what stands behind.
            var whole = samples[random.Next(samples.Count)];
            var frame = random.OneIn(2) ? whole : repair(Mutator.Mutate(ref random, samples));
            bytes.Write(frame);
        }

        using var patience = new CancellationTokenSource(s_patience);
        try
        {
            using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            await socket.ConnectAsync(endpoint, patience.Token);
            await using var stream = new NetworkStream(socket);
            var answers = DrainAsync(stream, patience.Token);
            await stream.WriteAsync(bytes.WrittenMemory, patience.Token);
            if (random.OneIn(2)) socket.Shutdown(SocketShutdown.Send);
            else if (random.OneIn(2)) socket.Close(0);
            else socket.Shutdown(SocketShutdown.Both);
            await answers;
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or IOException
            or InvalidOperationException)
        {
            // Cut off, as it should be.
        }

        return sent;
    }

    private static async Task DrainAsync(Stream stream, CancellationToken cancellationToken)
    {
        var buffer = new byte[1 << 16];
        try
        {
            while (await stream.ReadAsync(buffer, cancellationToken) > 0)
            {
                // Answers to what was well-formed.
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or OperationCanceledException
            or IOException)
        {
            // Either side has ended the connection.
        }
    }
}
