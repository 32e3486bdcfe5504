using Corfu.StateMachines;

namespace BankSample.Machine;

/// <summary>Accounts and transfers between them: the machine that is replicated. State and results follow from the
/// commands alone.</summary>
internal sealed class Accounts() : TypedMachine<Transfer, Receipt>(Options)
{
    public const long Opening = 1_000;

    public static readonly MessagePackSerializerOptions Options = MessagePackSerializerOptions.Standard;

    // Only accounts that differ from their opening balance.
    private readonly SortedDictionary<int, long> _changes = [];

    // The client's own names of its transfers. The machine keeps them to find a transfer that ran twice; it never asks.
    private readonly SortedSet<string> _names = [];

    public int Ran { get; private set; }

    public int Twice { get; private set; }

    public long BalanceOf(int account) => Opening + _changes.GetValueOrDefault(account);

    /// <summary>Sum of all accounts.</summary>
    public long Total(int accounts) => (accounts * Opening) + _changes.Values.Sum();

    protected override Receipt Apply(Transfer transfer, in CommandContext context)
    {
        Ran++;
        if (!_names.Add(transfer.Name)) Twice++;
        // A refusal is a result: every replica comes to the same one.
        if (transfer.Amount <= 0 || BalanceOf(transfer.From) < transfer.Amount)
            return new Receipt(false, BalanceOf(transfer.From));
        _changes[transfer.From] = _changes.GetValueOrDefault(transfer.From) - transfer.Amount;
        _changes[transfer.To] = _changes.GetValueOrDefault(transfer.To) + transfer.Amount;
        return new Receipt(true, BalanceOf(transfer.From));
    }

    public override IMachineSnapshot Capture() =>
        new Saved(MessagePackSerializer.Serialize(new Contents(_changes, _names, Ran, Twice), Options));

    public override async ValueTask RestoreAsync(Stream snapshot, CancellationToken cancellationToken = default)
    {
        var contents = await MessagePackSerializer.DeserializeAsync<Contents>(snapshot, Options, cancellationToken);
        foreach (var (account, change) in contents.Changes) _changes.Add(account, change);
        _names.UnionWith(contents.Names);
        (Ran, Twice) = (contents.Ran, contents.Twice);
    }

    private sealed class Saved(byte[] bytes) : IMachineSnapshot
    {
        public async ValueTask SaveAsync(Stream destination, CancellationToken cancellationToken = default) =>
            await destination.WriteAsync(bytes, cancellationToken);

        public void Dispose()
        {
        }
    }
}

/// <summary>A command: money goes from one account to another.</summary>
/// <param name="Name">Another one with each transfer that a client wants made.</param>
[MessagePackObject]
public sealed record Transfer(
    [property: Key(0)] string Name, [property: Key(1)] int From, [property: Key(2)] int To,
    [property: Key(3)] long Amount);

/// <summary>Result of a transfer.</summary>
/// <param name="Done">False: the account had too little, and nothing was moved.</param>
/// <param name="Left">What the account has after it.</param>
[MessagePackObject]
public sealed record Receipt([property: Key(0)] bool Done, [property: Key(1)] long Left);

/// <summary>A snapshot.</summary>
[MessagePackObject]
public sealed record Contents(
    [property: Key(0)] SortedDictionary<int, long> Changes, [property: Key(1)] SortedSet<string> Names,
    [property: Key(2)] int Ran, [property: Key(3)] int Twice);
