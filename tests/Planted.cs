namespace Corfu;

/// <summary>
/// Takes the place of <c>src/Planted.cs</c> in builds with <c>-p:Planted=true</c>. Every assembly of the product has
/// its own copy, so the name of the bug that is switched on stands in <see cref="AppContext"/>, where the simulator's
/// PlantedSwitch puts it.
/// </summary>
internal static class Planted
{
    public static bool Is(string name) => AppContext.GetData("Corfu.Planted") is string active && active == name;
}
