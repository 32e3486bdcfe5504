namespace Tango.ZooKeeper;

/// <summary>Numbers of the mutators: part of the format. All wait for playback: they return what Apply
/// computed.</summary>
internal static class Mutators
{
    public const int Begin = 1;
    public const int Configure = 2;
    public const int FrontEndUp = 3;
    public const int Beat = 4;
    public const int FrontEndDown = 5;
    public const int CreateSession = 6;
    public const int Attach = 7;
    public const int CloseSession = 8;
    public const int Expire = 9;
    public const int Create = 10;
    public const int Delete = 11;
    public const int SetData = 12;
    public const int SetAcl = 13;
    public const int Multi = 14;

    public const int Part = 15;
    public const int Reap = 16;

    public const int Mount = 17;
    public const int Adopt = 18;
    public const int Import = 19;
    public const int Shared = 20;

    public static ImmutableArray<MutatorInfo> All { get; } =
    [
        Info(Begin, nameof(Begin)), Info(Configure, nameof(Configure)), Info(FrontEndUp, nameof(FrontEndUp)),
        Info(Beat, nameof(Beat)), Info(FrontEndDown, nameof(FrontEndDown)),
        Info(CreateSession, nameof(CreateSession)), Info(Attach, nameof(Attach)),
        Info(CloseSession, nameof(CloseSession)), Info(Expire, nameof(Expire)), Info(Create, nameof(Create)),
        Info(Delete, nameof(Delete)), Info(SetData, nameof(SetData)), Info(SetAcl, nameof(SetAcl)),
        Info(Multi, nameof(Multi)), Info(Part, nameof(Part)),
        Info(Reap, nameof(Reap)), Info(Mount, nameof(Mount)), Info(Adopt, nameof(Adopt)),
        Info(Import, nameof(Import)), Info(Shared, nameof(Shared)),
    ];

    private static readonly MutatorInfo?[] s_byNumber =
        [.. Enumerable.Range(0, Shared + 1).Select(static number => All.FirstOrDefault(info => info.Number == number))];

    public static MutatorInfo Of(int number) => s_byNumber[number]!;

    /// <summary>The mutator in a transaction that reads what it needs by itself, or nothing.</summary>
    public static MutatorInfo InTransaction(int number) => Of(number) with { Reads = false };

    private static MutatorInfo Info(int number, string name) => new(number, name, Reads: true);
}
