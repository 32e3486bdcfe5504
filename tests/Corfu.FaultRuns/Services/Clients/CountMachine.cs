using System.Buffers.Binary;
using System.Text;
using System.Text.Json;
using Corfu.StateMachines;

namespace Corfu.FaultRuns.Services.Clients;

/// <summary>Counts the commands of each user, whose numbers rise by one: a number that does not is one that ran
/// twice, or one that was passed over.</summary>
internal sealed class CountMachine : IStateMachine
{
    private SortedDictionary<string, UserCount> _users = [];

    public IReadOnlyDictionary<string, UserCount> Users => _users;

    public long Count => _users.Sum(static user => user.Value.Count);

    public static byte[] Encode(string user, long number) =>
        Encoding.UTF8.GetBytes($"{user} {ServicesClient.Text(number)}");

    public static long CountIn(ReadOnlyMemory<byte> result) => BinaryPrimitives.ReadInt64LittleEndian(result.Span);

    public ReadOnlyMemory<byte> Apply(ReadOnlyMemory<byte> command, in CommandContext context)
    {
        var parts = Encoding.UTF8.GetString(command.Span).Split(' ');
        var number = long.Parse(parts[1]);
        var user = _users.GetValueOrDefault(parts[0], new UserCount(0, 0, 0));
        _users[parts[0]] = new UserCount(
            user.Count + 1, Math.Max(number, user.Last), user.Twice + (number <= user.Last ? 1 : 0));
        var result = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(result, Count);
        return result;
    }

    public IMachineSnapshot Capture() => new Captured(JsonSerializer.SerializeToUtf8Bytes(_users));

    public async ValueTask RestoreAsync(Stream snapshot, CancellationToken cancellationToken = default) =>
        _users = (await JsonSerializer.DeserializeAsync<SortedDictionary<string, UserCount>>(
            snapshot, cancellationToken: cancellationToken))!;

    private sealed class Captured(byte[] state) : IMachineSnapshot
    {
        public ValueTask SaveAsync(Stream destination, CancellationToken cancellationToken = default) =>
            destination.WriteAsync(state, cancellationToken);

        public void Dispose()
        {
        }
    }
}

/// <param name="Last">The highest number.</param>
/// <param name="Twice">Commands whose number had run before.</param>
public sealed record UserCount(long Count, long Last, long Twice);
