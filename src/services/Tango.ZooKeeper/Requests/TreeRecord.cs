namespace Tango.ZooKeeper;

/// <summary>An update of the tree, decided where it stands in the log.</summary>
public abstract record TreeRecord
{
    private protected TreeRecord()
    {
    }

    /// <summary>Number of the mutator: part of the format, never reused.</summary>
    public abstract int Number { get; }

    /// <summary>Null: no client's request.</summary>
    internal virtual RequestHeader? Caller => null;

    /// <summary>Level that the tree has from this record on; null: as before.</summary>
    internal virtual int? NewLevel => null;

    internal abstract void Write(ref MessagePackWriter writer);

    /// <summary>The result on this state. Where it is an error, the changes of the tree are dropped.</summary>
    internal abstract TreeResult Decide(WorkingTree tree);
}
