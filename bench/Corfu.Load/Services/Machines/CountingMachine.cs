using System.Buffers.Binary;
using Corfu.StateMachines;

namespace Corfu.Load;

/// <summary>Counts commands, whatever they are: what is measured is the library.</summary>
internal sealed class CountingMachine : IStateMachine
{
    private const int CountBytes = sizeof(long);

    public long Count { get; private set; }

    public ReadOnlyMemory<byte> Apply(ReadOnlyMemory<byte> command, in CommandContext context)
    {
        Count++;
        return Bytes();
    }

    public IMachineSnapshot Capture() => new Snapshot(Bytes());

    public async ValueTask RestoreAsync(Stream snapshot, CancellationToken cancellationToken = default)
    {
        var bytes = new byte[CountBytes];
        await snapshot.ReadExactlyAsync(bytes, cancellationToken);
        Count = BinaryPrimitives.ReadInt64LittleEndian(bytes);
    }

    private byte[] Bytes()
    {
        var bytes = new byte[CountBytes];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, Count);
        return bytes;
    }

    private sealed class Snapshot(byte[] bytes) : IMachineSnapshot
    {
        public ValueTask SaveAsync(Stream destination, CancellationToken cancellationToken = default) =>
            destination.WriteAsync(bytes, cancellationToken);

        public void Dispose()
        {
        }
    }
}
