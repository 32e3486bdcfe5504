using NamespaceSample.Model;
using Tango;

namespace NamespaceSample.Load;

/// <summary>A change that took effect, and its place among all.</summary>
public sealed record CommittedChange(RecordVersion Version, NamespaceChange Change);
