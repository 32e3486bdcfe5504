namespace Tango.Tests.Groups;

/// <summary>A group as programs of two versions open it: the newer ones name a member more.</summary>
internal sealed class Group
{
    public required TangoRuntime Runtime { get; init; }

    public Accounts First { get; private set; } = null!;

    public Accounts Second { get; private set; } = null!;

    public Accounts? Late { get; private set; }

    public static async Task<Group> OpenAsync(TangoRuntime runtime, bool isNewer)
    {
        var opened = new Group { Runtime = runtime };
        await runtime.OpenGroupAsync("group", group =>
        {
            opened.First = group.Add<Accounts>("first");
            if (isNewer) opened.Late = group.Add<Accounts>("late");
            opened.Second = group.Add<Accounts>("second");
        });
        return opened;
    }

    public static Task<Group> OpenOlderAsync(World world) => OpenAsync(world.NewRuntime(), isNewer: false);

    public static Task<Group> OpenNewerAsync(World world) => OpenAsync(world.NewRuntime(), isNewer: true);

    /// <summary>A member of a type that the programs above do not know.</summary>
    public static async Task<Fragile> OpenUnknownAsync(TangoRuntime runtime)
    {
        Fragile unknown = null!;
        await runtime.OpenGroupAsync("group", group => unknown = group.Add<Fragile>("unknown"));
        return unknown;
    }
}
