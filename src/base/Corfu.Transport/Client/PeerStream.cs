using System.Net.Security;
using System.Net.Sockets;
using System.Runtime.CompilerServices;

namespace Corfu.Transport;

/// <summary>The bytes of a connection: the socket itself, or TLS over it.</summary>
internal readonly struct PeerStream(Socket socket, SslStream? encrypted) : IDisposable
{
    /// <summary>Zero: the peer has closed its side.</summary>
    public ValueTask<int> ReceiveAsync(Memory<byte> memory, CancellationToken cancellationToken = default) =>
        encrypted is null
            ? socket.ReceiveAsync(memory, SocketFlags.None, cancellationToken)
            : encrypted.ReadAsync(memory, cancellationToken);

    /// <returns>The bytes sent, of which there may be fewer.</returns>
    public ValueTask<int> SendAsync(ReadOnlyMemory<byte> memory, CancellationToken cancellationToken = default) =>
        encrypted is null
            ? socket.SendAsync(memory, SocketFlags.None, cancellationToken)
            : EncryptAsync(encrypted, memory, cancellationToken);

    /// <summary>Ends pending calls of both directions.</summary>
    public void Dispose()
    {
        socket.Dispose();
        encrypted?.Dispose();
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private static async ValueTask<int> EncryptAsync(SslStream stream, ReadOnlyMemory<byte> memory,
        CancellationToken cancellationToken)
    {
        await stream.WriteAsync(memory, cancellationToken).ConfigureAwait(false);
        return memory.Length;
    }
}
