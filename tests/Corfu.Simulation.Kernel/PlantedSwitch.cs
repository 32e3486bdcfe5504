namespace Corfu.Simulation.Kernel;

/// <summary>Switches one planted bug of the product on, which reads the name in <c>tests/Planted.cs</c>.</summary>
public static class PlantedSwitch
{
    private const string Active = "Corfu.Planted";

    /// <summary>Whether the product was built with <c>-p:Planted=true</c> (Directory.Build.props).</summary>
    public static bool IsBuiltIn { get; } = AppContext.TryGetSwitch("Corfu.PlantedBuild", out bool isOn) && isOn;

    /// <param name="name">Null: no bug is on.</param>
    /// <returns>False if this build has no bug to switch on.</returns>
    public static bool Turn(string? name)
    {
        if (IsBuiltIn) AppContext.SetData(Active, name);
        return IsBuiltIn || name is null;
    }

    public static bool IsOn(string name) => AppContext.GetData(Active) as string == name;
}
