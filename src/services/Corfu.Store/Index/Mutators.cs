namespace Corfu.Store.Index;

/// <summary>Numbers of the records: part of the format. All wait for playback: they return what Apply
/// computed.</summary>
internal static class Mutators
{
    public const int Configure = 1;
    public const int Transact = 2;
    public const int Move = 3;
    public const int Compact = 4;
    public const int Pin = 5;
    public const int Unpin = 6;
    public const int Revert = 7;
    public const int Grant = 8;
    public const int Renew = 9;
    public const int EndLease = 10;

    public static ImmutableArray<MutatorInfo> All { get; } =
    [
        Info(Configure, nameof(Configure)), Info(Transact, nameof(Transact)), Info(Move, nameof(Move)),
        Info(Compact, nameof(Compact)), Info(Pin, nameof(Pin)), Info(Unpin, nameof(Unpin)),
        Info(Revert, nameof(Revert)), Info(Grant, nameof(Grant)), Info(Renew, nameof(Renew)),
        Info(EndLease, nameof(EndLease)),
    ];

    public static MutatorInfo Of(int number) => All[number - 1];

    private static MutatorInfo Info(int number, string name) => new(number, name, Reads: true);
}
