namespace System.Runtime.CompilerServices;

/// <summary>Lets records compile for netstandard2.0, which every compiler host can load.</summary>
internal static class IsExternalInit;
