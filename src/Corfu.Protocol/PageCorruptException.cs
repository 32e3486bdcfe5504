namespace Corfu.Protocol;

/// <summary>The page is damaged at every replica that was asked.</summary>
public sealed class PageCorruptException(string what) : CorfuException($"{what}: the page is corrupt.");
