namespace Salus.Nbd;

/// <summary>A volume that clients may use.</summary>
/// <param name="Name">Clients ask for it; at most 4,096 bytes of UTF-8.</param>
/// <param name="Description">For people.</param>
public sealed record NbdExport(string Name, IVolumeSource Source, string Description = "");
