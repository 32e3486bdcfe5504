using System.Buffers.Binary;
using Corfu.StateMachines;

namespace Corfu.Simulation.Services;

/// <summary>Counts commands, and chains them by a hash: two machines that have run different commands, or in another
/// order, differ for ever.</summary>
internal sealed class SimMachine(MachineMonitor monitor, string replica) : IStateMachine
{
    private const int Length = 2 * sizeof(ulong);
    private const ulong Prime = 0x9E37_79B9_7F4A_7C15;

    private DateTimeOffset _time;

    /// <summary>Commands that have run.</summary>
    public long Count { get; private set; }

    public ulong Hash { get; private set; }

    public MachineState State => new(Count, Hash);

    public static byte[] Encode(MachineCommand command) => Encode(command.User, (ulong)command.Number);

    public static MachineState DecodeState(ReadOnlyMemory<byte> result) => new(
        BinaryPrimitives.ReadInt64LittleEndian(result.Span), BinaryPrimitives.ReadUInt64LittleEndian(result.Span[8..]));

    public ReadOnlyMemory<byte> Apply(ReadOnlyMemory<byte> command, in CommandContext context)
    {
        ulong number = BinaryPrimitives.ReadUInt64LittleEndian(command.Span[8..]);
        var what = new MachineCommand(BinaryPrimitives.ReadInt64LittleEndian(command.Span), (long)number);
        Count++;
        Hash = (Hash ^ ((ulong)what.User << 48) ^ number) * Prime;
        monitor.Ran(replica, context, what, State);
        // M11.
        if (context.Time < _time) monitor.RanBack(replica, context, _time);
        _time = context.Time;
        return Encode(Count, Hash);
    }

    public IMachineSnapshot Capture() => new Captured(Encode(Count, Hash));

    public async ValueTask RestoreAsync(Stream snapshot, CancellationToken cancellationToken = default)
    {
        var bytes = new byte[Length];
        await snapshot.ReadExactlyAsync(bytes, cancellationToken);
        (Count, Hash) = DecodeState(bytes);
        monitor.Restored(replica, State);
    }

    private static byte[] Encode(long first, ulong second)
    {
        var bytes = new byte[Length];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, first);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(sizeof(ulong)), second);
        return bytes;
    }

    private sealed class Captured(byte[] state) : IMachineSnapshot
    {
        public ValueTask SaveAsync(Stream destination, CancellationToken cancellationToken = default) =>
            destination.WriteAsync(state, cancellationToken);

        public void Dispose()
        {
        }
    }
}

/// <param name="Number">Unique of the user.</param>
internal readonly record struct MachineCommand(long User, long Number);

/// <summary>A state of the machine, and the result of the command that led to it.</summary>
internal readonly record struct MachineState(long Count, ulong Hash);
